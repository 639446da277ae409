import ShipProtocol
package import SystemPackage

/// Notices that files may have changed, for as long as it lives, in a thread of its own. While nothing changes, it does nothing.
///
/// Where a link leads, the file that it leads to counts; each link on the way may be set anew.
///
/// The files come in groups: a notice says in which group something has changed. It may notice too often, but never too late. The callee has
/// to look for itself. Mapped writes say nothing [inotify(7)].
package final class FileWatch: Sendable {
    private let thread: NoticeThread

    /// - Parameters:
    ///   - groups: How many groups there are.
    ///   - interval: Between two looks where the system does not tell of changes.
    ///   - secondLook: When to look although nothing was said, because a folder further above may have been moved; `nil` for never.
    ///   - files: The files of a group, which need not be there. Called again when one of them has come or gone.
    ///   - notice: Called from the thread with the index of a group in which something may have changed, first of all with each of them, when
    ///     whatever changes from then on will be noticed.
    /// - Throws: If there is no descriptor left.
    package init(
        of groups: Int, every interval: Duration = .seconds(1), secondLook: Duration? = nil,
        files: @escaping @Sendable (Int) -> [FilePath], notice: @escaping @Sendable (Int) -> Void
    ) throws(FileError) {
        thread = try NoticeThread(watching: groups > 0 ? files(0).first ?? "" : "") { end in
            Self.run(until: end, (0..<groups), interval, secondLook, files, notice)
        }
    }

    private static func run(
        until end: borrowing NoticeThread.End, _ groups: Range<Int>, _ interval: Duration, _ secondLook: Duration?,
        _ files: (Int) -> [FilePath], _ notice: (Int) -> Void
    ) {
        while true {
            do throws(FileError) {
                let arrangement = try WatchArrangement(groups.map(files))
                groups.forEach(notice)
                var isArranged = true
                while isArranged {
                    let time = arrangement.isComplete ? secondLook : interval
                    if end.hasCome(after: time, or: [arrangement.notices.descriptor]) { return }
                    isArranged = arrangement.takeNotices(notice)
                }
            } catch {
                // Without notices each look has to be cheap.
                groups.forEach(notice)
                if end.hasCome(after: interval) { return }
            }
        }
    }
}

extension FilePath {
    /// - Returns: The component, which is gone; `nil` if there is none.
    fileprivate mutating func removeLast() -> Component? {
        defer { removeLastComponent() }
        return lastComponent
    }
}

/// The files and folders that are watched at a time.
private struct WatchArrangement: ~Copyable {
    let notices: FileNotices
    /// The groups that each number of a notice stands for.
    private let files: [CInt: [Int]]
    private let folders: [CInt: [(group: Int, name: String)]]
    /// Whether something tells of each change.
    let isComplete: Bool

    /// Most looks at the way to a file: where its links are set anew all the time, changes are told at intervals.
    private static let mostLooks = 8

    /// - Throws: If the system has no such notices, or no more of them to give.
    init(_ groups: [[FilePath]]) throws(FileError) {
        let notices = try FileNotices()
        var (files, folders) = ([CInt: [Int]](), [CInt: [(group: Int, name: String)]]())
        var isComplete = true
        for (index, group) in groups.enumerated() {
            for path in group {
                // The folder first: what comes into it after that is told. Where it is missing, the nearest one above it tells when the
                // next one comes. A link on the way may be set anew as well, also before its folder is watched: then the way is another one.
                var (watched, looks) = ([FilePath](), 0)
                while case let way = SymbolicLinks.way(of: path), way != watched {
                    looks += 1
                    guard looks <= Self.mostLooks else {
                        isComplete = false
                        break
                    }
                    for entry in way {
                        var place = entry
                        var number: CInt?
                        while number == nil, let name = place.removeLast()?.text {
                            number = try Self.watch { () throws(FileError) in
                                try notices.watch(place.isEmpty ? "." : place)
                            }
                            if let number { folders[number, default: []].append((index, name)) }
                        }
                        guard PlatformCalls.tellsOfChanges(in: place) else {
                            throw FileError(.watch, path, .notSupported)
                        }
                        let folder = entry.removingLastComponent()
                        if number == nil || place != folder && Self.isThere(folder) { isComplete = false }
                    }
                    watched = way
                }
                let content = try Self.watch { () throws(FileError) in try notices.watch(contentOf: path) }
                if let content, files[content]?.contains(index) != true { files[content, default: []].append(index) }
                // What is there and not watched may not be read, or has come meanwhile.
                if content == nil, Self.isThere(path) { isComplete = false }
            }
        }
        self.notices = notices
        (self.files, self.folders, self.isComplete) = (files, folders, isComplete)
    }

    private static func isThere(_ path: FilePath) -> Bool {
        (try? PlatformCalls.statusFollowingLinks(of: path)) != nil
    }

    /// - Returns: `nil` for what is not there, or may not be read.
    private static func watch(_ call: () throws(FileError) -> CInt) throws(FileError) -> CInt? {
        try FileError.unless(
            [.noSuchFileOrDirectory, .notDirectory, .permissionDenied, .tooManySymbolicLinkLevels], call)
    }

    /// Tells of all that has changed since the last time.
    ///
    /// - Returns: Whether the same files and folders are to be watched from now on.
    func takeNotices(_ notice: (Int) -> Void) -> Bool {
        guard let taken = notices.take(), !taken.isEmpty else { return false }
        for (number, name) in taken {
            if let entries = folders[number], !name.isEmpty {
                // A file has come, gone or moved: another one may be in its place.
                if entries.contains(where: { $0.name == name }) { return false }
            } else {
                files[number]?.forEach(notice)
            }
        }
        return true
    }
}
