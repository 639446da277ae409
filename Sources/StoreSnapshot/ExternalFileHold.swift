import Dispatch
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// Keeps the external files of a live store for as long as a copy of it is made: the app may replace them by the hundred
/// meanwhile, and removes an old one right after the commit that replaces it.
///
/// Each file gets a second name in a private folder, never in one of the app's, as soon as it is found. Where that is not
/// possible, as on another file system, it is opened, and copied once too many are open. What is held this way is what the
/// folder had while the copy began: whatever the copy refers to was there then.
final class ExternalFileHold: Sendable {
    private let support: SourceSupportFolder
    /// For the second names.
    private let folder: FilePath
    /// A longer file, in bytes, is not copied.
    private let longest: Int64
    private let mostOpen: Int
    private let state = Mutex(State())

    private struct State {
        var held: [ExternalFileName: Held] = [:]
        /// What has been opened, in that order, from `firstOpen` on. Some of it may have been handed over since.
        var opened: [ExternalFileName] = []
        var firstOpen = 0
        /// How many of them are open.
        var openCount = 0
        /// Of the next second name.
        var number = 0
        var isOver = false

        mutating func take(_ name: ExternalFileName) -> Held? {
            let held = held.removeValue(forKey: name)
            if case .open = held { openCount -= 1 }
            return held
        }

        mutating func takeFirstOpen() -> (ExternalFileName, OpenedFile)? {
            while firstOpen < opened.count {
                let name = opened[firstOpen]
                firstOpen += 1
                if case .open(let file) = held[name] {
                    _ = take(name)
                    return (name, file)
                }
            }
            return nil
        }
    }

    private enum Held {
        case file(FilePath)
        case open(OpenedFile)
    }

    /// Closed with its last reference.
    private final class OpenedFile: Sendable {
        let file: OpenFile
        init(_ file: consuming OpenFile) { self.file = file }
    }

    /// Looks at the folder before the copy begins.
    private static let mostFirstLooks = 10
    /// New files, after which a look finds hardly any.
    private static let few = 2
    /// Between two looks at the folder: as long as a look takes, within these.
    private static let (shortestPause, longestPause) = (Duration.milliseconds(1), Duration.milliseconds(4))

    /// - Parameters:
    ///   - folder: A private one, which is there.
    ///   - longest: A longer file, in bytes, is of no use; `nil` takes any.
    ///   - mostOpen: How many descriptors it may have open: half of those that are free, if nothing else is said.
    init(
        _ support: SourceSupportFolder, in folder: FilePath, upTo longest: Int64?,
        mostOpen: Int = PlatformCalls.freeDescriptors / 2
    ) {
        self.support = support
        self.folder = folder
        self.longest = longest ?? .max
        self.mostOpen = mostOpen
    }

    /// Makes a copy, and holds what it may refer to.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether it is settled which state of the store is copied: files that come later are of no use.
    ///   - copy: Makes it.
    func during<Value>(
        _ copy: () throws(SnapshotError) -> Value, hasBegun: @escaping @Sendable () -> Bool
    ) throws(SnapshotError) -> Value {
        guard (try? PlatformCalls.status(of: support.path))?.kind == .folder else { return try copy() }
        // Most of them are there for long; what comes while one looks is less each time, and so is what is left to do while
        // the copy begins.
        for _ in 1...Self.mostFirstLooks where look() <= Self.few { break }
        state.withLock { $0.isOver = false }
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "ship-store external files").async { [self] in
            lookAgainAndAgain(hasBegun)
            done.signal()
        }
        defer {
            state.withLock { $0.isOver = true }
            done.wait()
        }
        return try copy()
    }

    private func lookAgainAndAgain(_ hasBegun: () -> Bool) {
        while true {
            let isLast = state.withLock { $0.isOver } || hasBegun()
            let start = ContinuousClock.now
            _ = look()
            if isLast { return }
            // Half of a core, also where the copy has to wait for others; not more, where this has had to wait for a core.
            PlatformCalls.pause(min(max(Self.shortestPause, .now - start), Self.longestPause))
        }
    }

    /// Looks through the folder once, and holds what is new.
    ///
    /// - Returns: How many files that is.
    private func look() -> Int {
        var count = 0
        for kind in ExternalFileName.Folder.allCases {
            guard let name = FilePath.Component(kind.rawValue),
                let folder = try? OpenFolder(support.path).folder(name),
                let entries = try? folder.names(in: folder.path)
            else { continue }
            for entry in entries.prefix(Limits.externalFiles) {
                guard let name = ExternalFileName(folder: kind, uuid: entry) else { continue }
                state.withLock { state in
                    guard state.held[name] == nil else { return }
                    hold(name, in: folder, &state)
                    count += 1
                }
            }
        }
        // What comes next is opened without waiting for a copy.
        state.withLock { state in
            while state.openCount > mostOpen / 4 * 3 { copyFirst(&state) }
        }
        return count
    }

    private func hold(_ name: ExternalFileName, in folder: borrowing OpenFolder, _ state: inout State) {
        guard let entry = FilePath.Component(name.uuid) else { return }
        state.number += 1
        let second = self.folder.appending("held-\(state.number)")
        do throws(FileError) {
            try folder.hardLink(entry, as: second)
            state.held[name] = .file(second)
        } catch  where SourceSupportFolder.isNoObstacleToCopying(error.errno) {
            guard mostOpen > 0, let file = try? folder.file(entry), (try? file.status)?.kind == .file else { return }
            if state.openCount >= mostOpen { copyFirst(&state) }
            state.held[name] = .open(OpenedFile(file))
            state.opened.append(name)
            state.openCount += 1
        } catch {
            // It has gone already, or the copy will say what is wrong with it.
        }
    }

    /// Copies the file that has been open for longest, and closes it.
    private func copyFirst(_ state: inout State) {
        guard let (name, opened) = state.takeFirstOpen() else { return state.openCount = 0 }
        state.number += 1
        let copy = folder.appending("held-\(state.number)")
        guard let status = try? SourceSupportFolder.copy(opened.file, to: copy, upTo: longest) else {
            try? PlatformCalls.removeFile(copy)
            return
        }
        // A longer one is not copied: should it go, it is missing, and another take is made.
        if status.size <= longest { state.held[name] = .file(copy) }
    }

    /// Hands over a file that has no name in the app's folder any more.
    ///
    /// - Parameter target: Where it is to be.
    /// - Returns: `.missing` if it was never found.
    func gather(_ name: ExternalFileName, as target: FilePath) throws(SnapshotError) -> SourceSupportFolder.Gathering {
        let held = state.withLock { $0.take(name) }
        let status: FileStatus
        do throws(FileError) {
            switch held {
            case nil: return .missing
            case .file(let path):
                status = try PlatformCalls.status(of: path)
                guard status.kind == .file else { throw FileError(.open, support.path(of: name), .invalidArgument) }
                if status.size <= longest {
                    try PlatformCalls.rename(path, to: target)
                } else {
                    try PlatformCalls.removeFile(path)
                }
            case .open(let opened): status = try SourceSupportFolder.copy(opened.file, to: target, upTo: longest)
            }
        } catch {
            if error.errno == .invalidArgument { throw .notARegularFile(support.path(of: name)) }
            throw SnapshotError(writing: error, needed: 0)
        }
        return status.size <= longest ? .gathered(size: status.size) : .tooLong(size: status.size)
    }

    /// Lets go of everything.
    func release() {
        let files = state.withLock { state in
            defer { state = State() }
            return state.held.values.compactMap { held -> FilePath? in
                if case .file(let path) = held { path } else { nil }
            }
        }
        for file in files { try? PlatformCalls.removeFile(file) }
    }
}
