import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The names under which users find a store in the inbox. They lead through `current`, so that they are made once and
/// follow every switch.
struct PublicLinks {
    let folder: InboxFolder

    private var layout: InboxLayout { folder.layout }

    /// - Throws: `.occupied` if something that is not ours has one of the names.
    func check(for manifest: Manifest) throws(InboxError) {
        for (link, target) in links(for: manifest) {
            guard folder.files.holds(link) else { continue }
            guard isOurs(link, target) else { throw .occupied(link) }
        }
    }

    /// Makes those that are missing, durably.
    func make(for manifest: Manifest) throws(InboxError) {
        try check(for: manifest)
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in links(for: manifest) where !folder.files.holds(link) {
                try folder.files.symbolicLink(at: link, to: target)
            }
            try folder.files.sync(layout.root)
        }
    }

    /// Removes them: they lead nowhere while the store has no current generation.
    func remove(of name: StoreName) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in [storeLink(of: name), supportLink(of: name)] where isOurs(link, target) {
                try folder.files.removeFile(link)
            }
            try folder.files.sync(layout.root)
        }
    }

    private func isOurs(_ link: FilePath, _ target: FilePath) -> Bool {
        (try? folder.files.status(of: link))?.kind == .symbolicLink
            && (try? folder.files.targetOfSymbolicLink(at: link)) == target
    }

    /// The support folder's link is there once a shipment had external files; while a generation has none, it dangles. It
    /// comes first: whoever finds the store finds its files.
    private func links(for manifest: Manifest) -> [(link: FilePath, target: FilePath)] {
        let store = storeLink(of: manifest.name)
        return manifest.externalFiles.isEmpty ? [store] : [supportLink(of: manifest.name), store]
    }

    private func storeLink(of name: StoreName) -> (link: FilePath, target: FilePath) {
        (layout.storeLink(name), layout.storeLinkTarget(name))
    }

    private func supportLink(of name: StoreName) -> (link: FilePath, target: FilePath) {
        (layout.supportLink(name), layout.supportLinkTarget(name))
    }
}
