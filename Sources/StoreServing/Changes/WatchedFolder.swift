import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// What a folder is to an inbox, and what it means that a name in it changes.
enum WatchedFolder: Hashable {
    /// Something that leads to the inbox is in it, under this name.
    case above(String)
    /// Holds a folder for each store.
    case depot
    /// A store's own, with the link `current` in it.
    case store

    struct Place: Hashable {
        let path: FilePath
        let folder: WatchedFolder
    }

    enum Meaning: Int, Comparable {
        case nothing
        /// A store may have another generation.
        case look
        /// Other folders are to be watched from now on.
        case arrange

        static func < (left: Meaning, right: Meaning) -> Bool { left.rawValue < right.rawValue }
    }

    func meaning(ofChangeOf name: String) -> Meaning {
        switch self {
        case .above(let child): name == child ? .arrange : .nothing
        case .depot: StoreName(name) == nil ? .nothing : .arrange
        case .store: name == InboxLayout.currentLink ? .look : .nothing
        }
    }

    /// The folders above the stores' own: the depot, and the nearest two above it that are there. Where those are moved by
    /// the folders above them, nobody tells.
    static func above(_ inbox: Inbox) -> [Place] {
        var folders: [Place] = []
        var path = inbox.layout.depot
        if isFolder(path) { folders.append(Place(path: path, folder: .depot)) }
        var found = 0
        while found < 2, let child = path.lastComponent {
            path.removeLastComponent()
            guard isFolder(path) else { continue }
            folders.append(Place(path: path, folder: .above(child.string)))
            found += 1
        }
        return folders
    }

    private static func isFolder(_ path: FilePath) -> Bool {
        (try? PlatformCalls.statusFollowingLinks(of: path))?.kind == .folder
    }
}
