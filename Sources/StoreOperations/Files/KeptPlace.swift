public import ShipProtocol
import StoreFiles
import StoreInbox
public import SystemPackage

/// Where a file lies that never changes: in an inbox, or in a folder of kept copies. Only the commands that are for these
/// may change or remove it.
public enum KeptPlace: Hashable, Sendable {
    /// - Parameters: The inbox as far as it can be told from the place of its generations, and the store's name there.
    case inbox(FilePath, StoreName?)
    /// In the folder of one kept copy.
    case keptCopy(FilePath)
    /// Read-only, and under another name too, as are generations and kept copies that somebody has linked to.
    case otherName

    /// What was to be done to it.
    public enum Purpose: Hashable, Sendable {
        case destroy, move, restore, replace, setMetadata
    }

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
            if generations.lastComponent?.string == "generations",
                generation != nil || kind(of: store.appending(InboxLayout.currentLink)) == .symbolicLink
            {
                let name = generation?.manifest.name ?? store.lastComponent.flatMap { StoreName($0.string) }
                return .inbox(store.removingLastComponent().removingLastComponent(), name)
            }
            if generation != nil || folder.lastComponent.flatMap({ CopyFolderName($0.string) }) != nil {
                return .keptCopy(folder)
            }
        }
        let layout = InboxLayout(root: folder.removingLastComponent())
        guard layout.depot == folder, kind(of: layout.lock) == .file else { return nil }
        let rest = path.components.dropFirst(folder.components.count)
        return .inbox(layout.root, rest.first.flatMap { StoreName($0.string) })
    }

    private static func kind(of path: FilePath) -> FileStatus.Kind? { (try? PlatformCalls.status(of: path))?.kind }
}

extension StoreHome {
    /// - Throws: `.kept` if nobody but an inbox, or a folder of kept copies, may change the file.
    package func refuseIfKept(_ purpose: KeptPlace.Purpose) throws(OperationError) {
        if let place = KeptPlace(of: self) { throw .kept(path, place, purpose) }
    }
}
