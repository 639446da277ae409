package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// The names under which users find a store in the inbox. They lead through `current`, so that they are made once and follow every switch.
extension InboxFolder {
    /// - Parameter areMade: Whether they must be there.
    /// - Throws: `.occupied` if something that is not ours has one of the names, `.file`.
    package func checkLinks(for manifest: Manifest, areMade: Bool = false) throws(InboxError) {
        for (link, target) in links(for: manifest) {
            switch try InboxError.wrapping({ () throws(FileError) in try state(of: link, target) }) {
            case .taken: throw .occupied(link)
            case .free where areMade: throw .file(FileError(.open, link, .noSuchFileOrDirectory))
            case .free, .ours: break
            }
        }
    }

    /// Makes those that are missing, durably.
    func makeLinks(for manifest: Manifest) throws(InboxError) {
        try checkLinks(for: manifest)
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in links(for: manifest) where try !files.holds(link) {
                try files.symbolicLink(at: link, to: target)
            }
            try files.sync(layout.root)
        }
    }

    /// Removes them: they lead nowhere while the store has no current generation.
    func removeLinks(of name: StoreName) throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            for (link, target) in [storeLink(of: name), supportLink(of: name)]
            where try state(of: link, target) == .ours {
                try files.removeFile(link)
            }
            try files.sync(layout.root)
        }
    }

    private enum LinkState { case free, ours, taken }

    private func state(of link: FilePath, _ target: FilePath) throws(FileError) -> LinkState {
        guard let status = try files.statusIfThere(of: link) else { return .free }
        guard status.kind == .symbolicLink else { return .taken }
        return try files.targetOfSymbolicLink(at: link) == target ? .ours : .taken
    }

    /// The support folder's link is there once a shipment had external files; while a generation has none, it dangles. It comes
    /// first: a reader that finds the store finds its files.
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
