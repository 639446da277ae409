public import ShipProtocol
public import SystemPackage

/// An inbox as anybody may read it, its owner included.
public struct Inbox: Hashable, Sendable {
    package let layout: InboxLayout

    public init(at root: FilePath) { layout = InboxLayout(root: root) }

    /// The folder that `receive --into` names.
    public var root: FilePath { layout.root }

    /// Every store that has a folder, sorted by name.
    ///
    /// - Throws: `.noInbox`, `.file`.
    public func storeNames() throws(InboxError) -> [StoreName] {
        try open().storeNames()
    }

    /// - Throws: `.noInbox`, `.file`.
    package func open() throws(InboxError) -> InboxFolder { try InboxFolder(self) }

    /// All kept generations of a store, the oldest first.
    public func generations(of name: StoreName) throws(InboxError) -> [Generation] {
        let folder = try open()
        var found: [Generation] = []
        for generation in try folder.generationNames(of: name) {
            found.append(try folder.generation(generation, of: name))
        }
        return found
    }

    /// Their folders, the oldest first, whatever is in them.
    package func generationPaths(of name: StoreName) throws(InboxError) -> [FilePath] {
        try generationNames(of: name).map { layout.generations(name).appending($0.text) }
    }

    /// The generation that is served, or `nil` if none has been installed yet.
    ///
    /// - Throws: `.file` or `.badManifest` if what `current` names is damaged.
    public func current(of name: StoreName) throws(InboxError) -> Generation? {
        try open().current(of: name)
    }

    /// Whose shipments of a store are taken, and how far they have come; `nil` if nobody knows.
    ///
    /// - Throws: `.badOrigin`, `.file`.
    package func originRecord(of name: StoreName) throws(InboxError) -> OriginRecord? {
        try open().originRecord(of: name)
    }

    /// What the link `current` says, if it says something of ours.
    package func currentName(of name: StoreName) -> GenerationName? { (try? open())?.currentName(of: name) }

    /// The names of the kept generations, the oldest first.
    package func generationNames(of name: StoreName) throws(InboxError) -> [GenerationName] {
        try open().generationNames(of: name)
    }
}

/// Where things are in an inbox.
///
///     DIR/Recipes.sqlite      -> .ship-store/Recipes/current/Recipes.sqlite
///     DIR/.Recipes_SUPPORT    -> .ship-store/Recipes/current/.Recipes_SUPPORT
///     DIR/.ship-store/.lock
///     DIR/.ship-store/Recipes/current -> generations/7-3fa9c1d2
///     DIR/.ship-store/Recipes/generations/7-3fa9c1d2/{Recipes.sqlite, .Recipes_SUPPORT/..., manifest.json, origin.json}
///     DIR/.ship-store/Recipes/origin.json                                once what it says is not what is current
///     DIR/.ship-store/Recipes/rollback.json                              once somebody has gone back
///     DIR/.ship-store/Recipes/left.json                                  for some seconds after a switch
///     DIR/.ship-store/Recipes/suspended.*                                while an app is suspended that had pinned a generation
///     DIR/.ship-store/Recipes/leased.json                                once a sender was told in a file what is held
///     DIR/.ship-store/Recipes/staging/UUID/{waiting.json, manifest.json, stream, ...}   what is coming in, or waits for the rest
///     DIR/.ship-store/.forgotten-Recipes-UUID                            a store that is going
package struct InboxLayout: Hashable, Sendable {
    package let root: FilePath

    package init(root: FilePath) { self.root = root }

    /// Holds everything; store names never begin with a dot, so that `.lock` is free for us.
    package var depot: FilePath { root.appending(".ship-store") }
    package var lock: FilePath { depot.appending(".lock") }

    package func store(_ name: StoreName) -> FilePath { depot.appending(name.text) }
    package func current(_ name: StoreName) -> FilePath { store(name).appending(Self.currentLink) }
    package func generations(_ name: StoreName) -> FilePath { store(name).appending("generations") }
    package func rollbackRecord(_ name: StoreName) -> FilePath { store(name).appending("rollback.json") }
    package func originRecord(_ name: StoreName) -> FilePath { store(name).appending(Self.originFile) }
    package func leftRecord(_ name: StoreName) -> FilePath { store(name).appending("left.json") }
    package func leaseRecord(_ name: StoreName) -> FilePath { store(name).appending("leased.json") }
    package func staging(_ name: StoreName) -> FilePath { store(name).appending("staging") }

    /// What users open: `DIR/Recipes.sqlite`.
    package func storeLink(_ name: StoreName) -> FilePath { root.appending(Self.storeFile(name)) }
    package func supportLink(_ name: StoreName) -> FilePath { root.appending(Self.supportFolder(name)) }

    /// What the links above hold.
    package func storeLinkTarget(_ name: StoreName) -> FilePath {
        currentRelative(name).appending(Self.storeFile(name))
    }
    package func supportLinkTarget(_ name: StoreName) -> FilePath {
        currentRelative(name).appending(Self.supportFolder(name))
    }

    private func currentRelative(_ name: StoreName) -> FilePath {
        FilePath(".ship-store").appending(name.text).appending(Self.currentLink)
    }

    /// The names inside a generation's folder.
    package static func storeFile(_ name: StoreName) -> String { name.text + ".sqlite" }
    package static func supportFolder(_ name: StoreName) -> String { "." + name.text + "_SUPPORT" }
    /// The name of the link in a store's folder.
    package static let currentLink = "current"
    package static let manifestFile = "manifest.json"
    /// Beside the manifest of a generation, where it is known which device made it.
    package static let originFile = "origin.json"
    /// In the staging of a shipment that may have to wait: see `WaitingRecord` and `PartStream`.
    package static let waitingFile = "waiting.json"
    package static let streamFile = "stream"
}
