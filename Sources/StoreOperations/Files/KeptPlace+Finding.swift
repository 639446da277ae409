import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

extension KeptPlace {
    /// Judges by where the file really is, and by the manifests and the lock that are kept there, not by what the folders
    /// above are called by now.
    ///
    /// - Parameter home: Without symbolic links.
    /// - Returns: `nil` for any other store, and for what is not there.
    package init?(of home: StoreHome) {
        var folder = home.folder
        while true {
            if let place = Self.place(folder, above: home.path) {
                self = place
                return
            }
            let above = folder.removingLastComponent()
            guard above != folder, !above.isEmpty else { break }
            folder = above
        }
        guard let status = try? PlatformCalls.status(of: home.path), status.kind == .file, status.links > 1,
            status.permissions.isDisjoint(with: [.ownerWrite, .groupWrite, .otherWrite])
        else { return nil }
        self = .otherName
    }

    private static func place(_ folder: FilePath, above path: FilePath) -> KeptPlace? {
        if kind(of: folder.appending(InboxLayout.manifestFile)) == .file {
            let generation = try? Generation(at: folder)
            let generations = folder.removingLastComponent()
            let store = generations.removingLastComponent()
            if generations.lastComponent?.text == "generations",
                generation != nil || kind(of: store.appending(InboxLayout.currentLink)) == .symbolicLink
            {
                let name = generation?.manifest.name ?? store.lastComponent.flatMap { StoreName($0.text) }
                return .inbox(store.removingLastComponent().removingLastComponent(), name)
            }
            if generation != nil || folder.lastComponent.flatMap({ CopyFolderName($0.text) }) != nil {
                return .keptCopy(folder)
            }
        }
        let layout = InboxLayout(root: folder.removingLastComponent())
        guard layout.depot == folder, kind(of: layout.lock) == .file else { return nil }
        let rest = path.components.dropFirst(folder.components.count)
        return .inbox(layout.root, rest.first.flatMap { StoreName($0.text) })
    }

    private static func kind(of path: FilePath) -> FileStatus.Kind? { (try? PlatformCalls.status(of: path))?.kind }
}
