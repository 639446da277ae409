import ShipProtocol
package import StoreFiles
package import StoreInbox
import SystemPackage

/// Notices that something in an inbox may have changed, for as long as it lives, in a thread of its own.
///
/// It may notice too often, but never too late. The callee has to look for itself.
package final class InboxWatch: Sendable {
    private let thread: NoticeThread

    /// - Parameter notice: Called from the thread, first of all when whatever changes from then on will be noticed.
    /// - Throws: If there is no descriptor left.
    package init(_ inbox: Inbox, _ watching: Watching, notice: @escaping @Sendable () -> Void) throws(FileError) {
        thread = try NoticeThread(watching: inbox.root) { end in Self.run(inbox, watching, until: end, notice) }
    }

    func tellToEnd() { thread.tellToEnd() }

    func end(by time: ContinuousClock.Instant) -> Bool { thread.end(by: time) }

    private static func run(
        _ inbox: Inbox, _ watching: Watching, until end: borrowing NoticeThread.End, _ notice: () -> Void
    ) {
        while true {
            switch watching {
            case .polling(let interval):
                notice()
                if end.hasCome(after: max(Watching.leastInterval, interval)) { return }
            case .automatic:
                do throws(FileError) {
                    let arrangement = try WatchArrangement(of: inbox)
                    notice()
                    if follow(arrangement, until: end, notice) { return }
                } catch {
                    notice()
                    if end.hasCome(after: Watching.standardInterval) { return }
                }
            }
        }
    }

    /// - Returns: Whether the watch is over; else the folders are to be arranged anew.
    private static func follow(
        _ arrangement: borrowing WatchArrangement, until end: borrowing NoticeThread.End, _ notice: () -> Void
    ) -> Bool {
        while true {
            if end.hasCome(after: Watching.secondLook, or: [arrangement.notices.descriptor]) { return true }
            switch arrangement.takeMeaning() {
            case .arrange: return false
            case .look: notice()
            case .nothing: break
            }
        }
    }
}

/// The folders of an inbox that are watched at a time.
private struct WatchArrangement: ~Copyable {
    let notices: FileNotices
    /// By the numbers that notices have for them.
    private let folders: [CInt: WatchedFolder]

    /// - Throws: If the system has no such notices, or no more of them to give.
    init(of inbox: Inbox) throws(FileError) {
        let notices = try FileNotices()
        var folders: [CInt: WatchedFolder] = [:]
        // From above: what comes into a folder after it is watched is told. What came before, while these were found, is
        // found by another look.
        var found: [(path: FilePath, folder: WatchedFolder)] = []
        while true {
            let now = WatchedFolder.above(inbox)
            if found.elementsEqual(now, by: ==) { break }
            found = now
            for (path, folder) in found.reversed() { folders[try notices.watch(path)] = folder }
        }
        for name in (try? inbox.storeNames()) ?? [] {
            // The folder above reports a store that has gone meanwhile; an entry that is no folder is no store.
            let number = try FileError.unless([.noSuchFileOrDirectory, .notDirectory]) { () throws(FileError) in
                try notices.watch(inbox.layout.store(name))
            }
            if let number { folders[number] = .store }
        }
        self.notices = notices
        self.folders = folders
    }

    /// The meaning of all notices since the last time. After a long time without any, everything is arranged anew: the system may have
    /// missed changes.
    func takeMeaning() -> WatchedFolder.Meaning {
        guard let taken = notices.take(), !taken.isEmpty else { return .arrange }
        return taken.map { folders[$0.watched]?.meaning(ofChangeOf: $0.name) ?? .arrange }.max() ?? .nothing
    }
}

/// The role of a folder in an inbox, and the meaning of a changed name in it.
private enum WatchedFolder: Hashable {
    /// Something that leads to the inbox is in it, under this name.
    case above(String)
    /// Holds a folder for each store.
    case depot
    /// A store's own, with the link `current` in it.
    case store

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

    /// The folders above the stores' own: the depot, and the nearest two above it that are there. A move of a folder further up
    /// goes unnoticed.
    static func above(_ inbox: Inbox) -> [(path: FilePath, folder: WatchedFolder)] {
        let depot = inbox.layout.depot
        var (path, above) = (depot, [(path: FilePath, folder: WatchedFolder)]())
        while above.count < 2, let child = path.lastComponent {
            path.removeLastComponent()
            let folder: FilePath = path.isEmpty ? "." : path
            if isFolder(folder) { above.append((folder, .above(child.text))) }
        }
        return isFolder(depot) ? [(depot, .depot)] + above : above
    }

    private static func isFolder(_ path: FilePath) -> Bool {
        (try? PlatformCalls.statusFollowingLinks(of: path))?.kind == .folder
    }
}
