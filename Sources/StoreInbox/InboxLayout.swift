package import ShipProtocol
import StoreFiles
package import SystemPackage

/// Where things are in an inbox.
///
///     DIR/Recipes.sqlite      -> .ship-store/Recipes/current/Recipes.sqlite
///     DIR/.Recipes_SUPPORT    -> .ship-store/Recipes/current/.Recipes_SUPPORT
///     DIR/.ship-store/.format                                            `InboxFolder.format`
///     DIR/.ship-store/.lock
///     DIR/.ship-store/.published-3fa9c1d2...json                         once it has followed a publication
///     DIR/.ship-store/.objects/SHA-256                                   while it comes from one
///     DIR/.ship-store/.failed                                            while some store's last shipment has failed: `FailureRecord`
///     DIR/.ship-store/Recipes/current -> generations/7-3fa9c1d2
///     DIR/.ship-store/Recipes/generations/7-3fa9c1d2/{Recipes.sqlite, .Recipes_SUPPORT/..., manifest.json, origin.json, signed}
///     DIR/.ship-store/Recipes/origin.json                                once what it says is not what is current
///     DIR/.ship-store/Recipes/rollback.json                              once somebody has gone back
///     DIR/.ship-store/Recipes/left.json                                  for some seconds after a switch
///     DIR/.ship-store/Recipes/suspended.*                                while an app is suspended that had pinned a generation
///     DIR/.ship-store/Recipes/leased.json                                once a sender was told in a file what is held
///     DIR/.ship-store/Recipes/asof.json                                  once the source has said what is its newest state
///     DIR/.ship-store/Recipes/halted.json                                while the publisher of the store has halted it
///     DIR/.ship-store/Recipes/asked                                      by which readers have the receiver ask: `Bell`
///     DIR/.ship-store/Recipes/staging/UUID/{waiting.json, manifest.json, stream, ...}   what is coming in, or waits for the rest
///     DIR/.ship-store/.forgotten-Recipes-UUID                            a store that is going
package struct InboxLayout: Hashable, Sendable {
    package let root: FilePath

    package init(root: FilePath) { self.root = root }

    /// Holds everything; store names never begin with a dot, so that `.lock` is free for us.
    package var depot: FilePath { root.appending(FilePath.depot) }
    package var lock: FilePath { depot.appending(".lock") }
    package var format: FilePath { depot.appending(".format") }
    package var failureRecord: FilePath { depot.appending(".failed") }
    /// Where records of the whole inbox are made; of those of publications each under a name that begins so.
    package var failureAside: FilePath { depot.appending(".failed.new") }
    static let publicationAside = ".published-new"

    /// The inbox that has a folder as its depot, or in it.
    package static func inbox(around folder: FilePath) -> FilePath? {
        var path = PlatformCalls.realPlace(of: folder)
        while let name = path.lastComponent {
            path.removeLastComponent()
            let lock = InboxLayout(root: path).lock
            if name == FilePath.depot, (try? PlatformCalls.status(of: lock))?.kind == .file {
                return path.isEmpty ? "." : path
            }
        }
        return nil
    }

    package func publicationRecord(at place: String) -> FilePath {
        depot.appending(".published-\(ContentDigest(hashing: place.utf8).hex.prefix(32)).json")
    }

    /// Objects of publications that are coming in, by their digests.
    package var objects: FilePath { depot.appending(".objects") }

    package func store(_ name: StoreName) -> FilePath { depot.appending(name.text) }
    package func current(_ name: StoreName) -> FilePath { store(name).appending(Self.currentLink) }
    package func generations(_ name: StoreName) -> FilePath { store(name).appending("generations") }
    package func rollbackRecord(_ name: StoreName) -> FilePath { store(name).appending("rollback.json") }
    package func originRecord(_ name: StoreName) -> FilePath { store(name).appending(Self.originFile) }
    package func leftRecord(_ name: StoreName) -> FilePath { store(name).appending("left.json") }
    package func leaseRecord(_ name: StoreName) -> FilePath { store(name).appending("leased.json") }
    package func ageRecord(_ name: StoreName) -> FilePath { store(name).appending("asof.json") }
    package func haltRecord(_ name: StoreName) -> FilePath { store(name).appending("halted.json") }
    package func bell(_ name: StoreName) -> FilePath { store(name).appending("asked") }
    package func staging(_ name: StoreName) -> FilePath { store(name).appending("staging") }

    /// The link that users open: `DIR/Recipes.sqlite`.
    package func storeLink(_ name: StoreName) -> FilePath { root.appending(Self.storeFile(name)) }
    package func supportLink(_ name: StoreName) -> FilePath { root.appending(Self.supportFolder(name)) }

    /// The target of the links above.
    package func storeLinkTarget(_ name: StoreName) -> FilePath {
        currentRelative(name).appending(Self.storeFile(name))
    }
    package func supportLinkTarget(_ name: StoreName) -> FilePath {
        currentRelative(name).appending(Self.supportFolder(name))
    }

    private func currentRelative(_ name: StoreName) -> FilePath {
        FilePath(root: nil, [FilePath.depot]).appending(name.text).appending(Self.currentLink)
    }

    /// The names inside a generation's folder.
    package static func storeFile(_ name: StoreName) -> String { name.text + ".sqlite" }
    package static func supportFolder(_ name: StoreName) -> String { ExternalFileName.supportFolder(ofStem: name.text) }
    /// The name of the link in a store's folder.
    package static let currentLink = "current"
    package static let manifestFile = "manifest.json"
    /// Beside the manifest of a generation, where it is known which device made it.
    package static let originFile = "origin.json"
    /// The same, where the device has signed it: `SignedManifest`.
    package static let signedFile = "signed"
    /// In the staging of a shipment that may have to wait: see `WaitingRecord` and `PartStream`.
    package static let waitingFile = "waiting.json"
    package static let streamFile = "stream"
}
