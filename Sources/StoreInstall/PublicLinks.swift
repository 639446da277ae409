import FoundationEssentials
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The names under which users find a store in the inbox. They lead through `current`, so that they are made once and
/// follow every switch.
struct PublicLinks {
    let layout: InboxLayout

    /// - Throws: `.occupied` if something that is not ours has one of the names.
    func check(for manifest: Manifest) throws(InboxError) {
        for (link, target) in links(for: manifest) {
            guard (try? PlatformCalls.status(of: link)) != nil else { continue }
            guard Self.isOurs(link, target) else { throw .occupied(link) }
        }
    }

    /// Makes those that are missing, durably.
    func make(for manifest: Manifest) throws(InboxError) {
        try check(for: manifest)
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in links(for: manifest) where (try? PlatformCalls.status(of: link)) == nil {
                try PlatformCalls.symbolicLink(at: link, to: target)
            }
            try Folder.sync(layout.root)
        }
    }

    /// Removes them: they lead nowhere while the store has no current generation.
    func remove(of name: StoreName) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in [storeLink(of: name), supportLink(of: name)] where Self.isOurs(link, target) {
                try PlatformCalls.removeFile(link)
            }
            try Folder.sync(layout.root)
        }
    }

    private static func isOurs(_ link: FilePath, _ target: FilePath) -> Bool {
        (try? PlatformCalls.status(of: link))?.kind == .symbolicLink
            && (try? PlatformCalls.targetOfSymbolicLink(at: link)) == target
    }

    /// The support folder's link is there once a shipment had external files; while a generation has none, it dangles.
    private func links(for manifest: Manifest) -> [(link: FilePath, target: FilePath)] {
        let store = storeLink(of: manifest.name)
        return manifest.externalFiles.isEmpty ? [store] : [store, supportLink(of: manifest.name)]
    }

    private func storeLink(of name: StoreName) -> (link: FilePath, target: FilePath) {
        (layout.storeLink(name), layout.storeLinkTarget(name))
    }

    private func supportLink(of name: StoreName) -> (link: FilePath, target: FilePath) {
        (layout.supportLink(name), layout.supportLinkTarget(name))
    }
}
