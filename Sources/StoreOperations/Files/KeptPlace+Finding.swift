import ShipProtocol
import StoreFiles
import StoreInbox
package import SystemPackage

extension KeptPlace {
    /// Judges by where the file really is, and by the manifests and the lock that are kept there, not by what the folders
    /// above are called by now.
    ///
    /// - Parameter home: Without symbolic links.
    /// - Returns: `nil` for any other store, and for what is not there.
    package init?(of home: StoreHome) {
        if let place = Self.place(around: home.folder) {
            self = place
            return
        }
        guard let status = try? PlatformCalls.status(of: home.path), status.kind == .file, status.links > 1,
            status.permissions.isDisjoint(with: [.ownerWrite, .groupWrite, .otherWrite])
        else { return nil }
        self = .otherName
    }

    /// - Parameter folder: Where files are to be put; it need not be there.
    /// - Throws: `.kept` if only an inbox, or the commands for kept copies, may put any there.
    package static func refuseToFill(_ folder: FilePath) throws(OperationError) {
        let real = PlatformCalls.realPlace(of: folder)
        let isInbox = kind(of: InboxLayout(root: real).lock) == .file
        if let place = isInbox ? .depot(ofInbox: real) : place(around: real) { throw .kept(folder, place, .fill) }
    }

    /// - Parameter folder: Without symbolic links.
    private static func place(around folder: FilePath) -> KeptPlace? {
        if let place = place(folder) { return place }
        let above = folder.removingLastComponent()
        return above == folder || above.isEmpty ? nil : place(around: above)
    }

    private static func place(_ folder: FilePath) -> KeptPlace? {
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
        return layout.depot == folder && kind(of: layout.lock) == .file ? .depot(ofInbox: layout.root) : nil
    }

    private static func kind(of path: FilePath) -> FileStatus.Kind? { (try? PlatformCalls.status(of: path))?.kind }
}
