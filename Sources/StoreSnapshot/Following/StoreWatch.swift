import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Notices that stores may have changed, for as long as it lives, in a thread of its own. While nothing changes, it does nothing.
///
/// It may notice too often, also because this process has opened a store, but never too late. The callee has to look for itself.
///
/// A commit in WAL mode writes to the log; in the other modes to the store's file. A log, or another store, comes and goes in its folder.
/// The index of the log is mapped, and says nothing [inotify(7)].
package final class StoreWatch: Sendable {
    private let thread: NoticeThread

    /// Between two looks where the system does not tell of changes.
    private static let pollingInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - paths: Of the stores, as the user gave them; they need not be there.
    ///   - notice: Called from the thread with the index of a store that may have changed, first of all with each of them, when whatever
    ///     changes from then on will be noticed.
    /// - Throws: If there is no descriptor left.
    package init(_ paths: [FilePath], notice: @escaping @Sendable (Int) -> Void) throws(FileError) {
        thread = try NoticeThread(watching: paths.first ?? "") { end in Self.run(paths, until: end, notice) }
    }

    private static func run(_ paths: [FilePath], until end: borrowing NoticeThread.End, _ notice: (Int) -> Void) {
        let polled = paths.indices.filter { !PlatformCalls.tellsOfChanges(around: paths[$0]) }
        while true {
            do throws(FileError) {
                guard polled.isEmpty else { throw FileError(.watch, paths[polled[0]], .notSupported) }
                let arrangement = try WatchedStores(paths)
                paths.indices.forEach(notice)
                if follow(arrangement, until: end, notice) { return }
            } catch {
                // Without notices each look is cheap: the callee compares traces.
                paths.indices.forEach(notice)
                if end.hasCome(after: pollingInterval) { return }
            }
        }
    }

    /// - Returns: Whether the watch is over; else other files are to be watched.
    private static func follow(
        _ arrangement: borrowing WatchedStores, until end: borrowing NoticeThread.End, _ notice: (Int) -> Void
    ) -> Bool {
        while true {
            let time = arrangement.isComplete ? nil : pollingInterval
            if end.hasCome(after: time, or: [arrangement.notices.descriptor]) { return true }
            if !arrangement.takeNotices(notice) { return false }
        }
    }
}

/// The files and folders of stores that are watched at a time.
private struct WatchedStores: ~Copyable {
    let notices: FileNotices
    /// What each number of a notice stands for.
    private let files: [CInt: [Int]]
    private let folders: [CInt: [(store: Int, name: String)]]
    /// Whether each store is there: where a folder above it is missing, nothing tells when it comes.
    let isComplete: Bool

    /// - Throws: If the system has no such notices, or no more of them to give.
    init(_ paths: [FilePath]) throws(FileError) {
        let notices = try FileNotices()
        var (files, folders) = ([CInt: [Int]](), [CInt: [(store: Int, name: String)]]())
        var isComplete = true
        for (index, path) in paths.enumerated() {
            // The folder first: what comes into it after that is told. A link is watched where it is, and where it leads.
            for place in [path, (try? PlatformCalls.realPath(of: path)) ?? path] {
                let folder = place.removingLastComponent()
                guard let name = place.lastComponent?.text else { continue }
                guard
                    let number = try Self.watch({ () throws(FileError) in
                        try notices.watch(folder.isEmpty ? "." : folder)
                    })
                else {
                    isComplete = false
                    continue
                }
                folders[number, default: []] += [(index, name), (index, name + "-wal")]
                for file in [place, Sidecars.log(of: place)] {
                    if let number = try Self.watch({ () throws(FileError) in try notices.watch(contentOf: file) }) {
                        files[number, default: []].append(index)
                    }
                }
            }
        }
        self.notices = notices
        (self.files, self.folders, self.isComplete) = (files, folders, isComplete)
    }

    /// - Returns: `nil` for what is not there.
    private static func watch(_ call: () throws(FileError) -> CInt) throws(FileError) -> CInt? {
        do throws(FileError) {
            return try call()
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory, .permissionDenied, .tooManySymbolicLinkLevels: return nil
            default: throw error
            }
        }
    }

    /// Tells of all that has changed since the last time.
    ///
    /// - Returns: Whether the same files and folders are to be watched from now on.
    func takeNotices(_ notice: (Int) -> Void) -> Bool {
        guard let taken = notices.take(), !taken.isEmpty else { return false }
        for (number, name) in taken {
            if let stores = folders[number], !name.isEmpty {
                // A file of a store has come, gone or moved: another one may be in its place.
                if stores.contains(where: { $0.name == name }) { return false }
            } else {
                files[number]?.forEach(notice)
            }
        }
        return true
    }
}
