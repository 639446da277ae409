import Dispatch
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// Keeps the external files of a live store while a copy of it is made: the app may replace hundreds of them meanwhile, and removes
/// each old file right after the commit that replaces it.
///
/// Each file gets a second name in a private folder, never in a folder of the app, as soon as it is found. Where that is not
/// possible, as on another file system, the file is opened, and copied once too many are open. So all files are held that the folder
/// had while the copy began; every file to which the copy refers was there then.
final class ExternalFileHold: Sendable {
    private let support: SourceSupportFolder
    /// The folder of the second names.
    private let folder: FilePath
    /// A longer file, in bytes, is not copied.
    private let longest: Int64
    /// Most descriptors that it may have open.
    private let mostOpen = PlatformCalls.freeDescriptors / 2
    private let state = Mutex(State())

    private struct State {
        /// The files that have second names, or were copied.
        var paths: [ExternalFileName: FilePath] = [:]
        var open: [ExternalFileName: OpenedFile] = [:]
        /// The files that were opened, in that order, from `firstOpen` on. Some may have been handed over since.
        var opened: [ExternalFileName] = []
        var firstOpen = 0
        /// The number of the last second name.
        var number = 0
        var isOver = false

        mutating func takeFirstOpen() -> (ExternalFileName, OpenedFile)? {
            while firstOpen < opened.count {
                let name = opened[firstOpen]
                firstOpen += 1
                if let file = open.removeValue(forKey: name) { return (name, file) }
            }
            return nil
        }
    }

    /// Closed with its last reference.
    private final class OpenedFile: Sendable {
        let file: OpenFile
        init(_ file: consuming OpenFile) { self.file = file }
    }

    /// Most scans of the folder before the copy begins.
    private static let mostFirstLooks = 10
    /// If a scan finds at most as many new files, no further one is needed.
    private static let few = 2
    /// The pause between two scans takes as long as a scan, within these limits.
    private static let (shortestPause, longestPause) = (Duration.milliseconds(1), Duration.milliseconds(4))

    /// - Parameters:
    ///   - folder: A private folder, which exists.
    ///   - longest: A longer file, in bytes, is of no use; `nil` takes any.
    init(_ support: SourceSupportFolder, in folder: FilePath, upTo longest: Int64?) {
        self.support = support
        self.folder = folder
        self.longest = longest ?? .max
    }

    /// Makes a copy, and holds the files to which it may refer.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether it is settled which state of the store is copied: files that come later are of no use.
    ///   - copy: Makes it.
    func during<Value>(
        _ copy: () throws(SnapshotError) -> Value, hasBegun: @escaping @Sendable () -> Bool
    ) throws(SnapshotError) -> Value {
        guard (try? PlatformCalls.status(of: support.path))?.kind == .folder else { return try copy() }
        // Most files have been there for long. Each scan finds fewer new ones, which leaves less to do while the copy begins.
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
            // This takes at most half of a core, also where the copy waits for others.
            PlatformCalls.pause(min(max(Self.shortestPause, .now - start), Self.longestPause))
        }
    }

    /// Scans the folder once, and holds the new files.
    ///
    /// - Returns: How many files were new.
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
                    guard state.paths[name] == nil, state.open[name] == nil else { return }
                    hold(name, in: folder, &state)
                    count += 1
                }
            }
        }
        // So that the next files can be opened without waiting for a copy.
        state.withLock { state in
            while state.open.count > mostOpen / 4 * 3, copyFirst(&state) {}
        }
        return count
    }

    private func hold(_ name: ExternalFileName, in folder: borrowing OpenFolder, _ state: inout State) {
        guard let entry = FilePath.Component(name.uuid) else { return }
        state.number += 1
        let second = self.folder.appending("held-\(state.number)")
        do throws(FileError) {
            try folder.hardLink(entry, as: second)
            state.paths[name] = second
        } catch  where SourceSupportFolder.isNoObstacleToCopying(error.errno) {
            guard mostOpen > 0, let file = try? folder.file(entry), (try? file.status)?.kind == .file else { return }
            if state.open.count >= mostOpen { _ = copyFirst(&state) }
            state.open[name] = OpenedFile(file)
            state.opened.append(name)
        } catch {
            // The file is gone already, or the copy reports what is wrong with it.
        }
    }

    /// Copies the file that has been open for longest, and closes it.
    ///
    /// - Returns: Whether there was one.
    private func copyFirst(_ state: inout State) -> Bool {
        guard let (name, opened) = state.takeFirstOpen() else { return false }
        state.number += 1
        let copy = folder.appending("held-\(state.number)")
        guard let status = try? SourceSupportFolder.copy(opened.file, to: copy, upTo: longest) else {
            try? PlatformCalls.removeFile(copy)
            return true
        }
        // A longer file is not copied: if the app removes it, it is missing, and another attempt is made.
        if status.size <= longest { state.paths[name] = copy }
        return true
    }

    /// Hands over a file that the app has removed, which gets the path `target`.
    ///
    /// - Returns: The size of the file, in bytes, whether it was too long or not; `nil` if it was never found.
    func gather(_ name: ExternalFileName, as target: FilePath) throws(SnapshotError) -> Int64? {
        let (path, opened) = state.withLock { state in
            (state.paths.removeValue(forKey: name), state.open.removeValue(forKey: name))
        }
        do throws(FileError) {
            if let path {
                let status = try PlatformCalls.status(of: path)
                guard status.kind == .file else { throw FileError(.open, support.path(of: name), .invalidArgument) }
                if status.size <= longest {
                    try PlatformCalls.rename(path, to: target)
                } else {
                    try PlatformCalls.removeFile(path)
                }
                return status.size
            }
            guard let opened else { return nil }
            return try SourceSupportFolder.copy(opened.file, to: target, upTo: longest).size
        } catch {
            if error.errno == .invalidArgument { throw .notARegularFile(support.path(of: name)) }
            throw SnapshotError(writing: error, needed: 0)
        }
    }

    /// Removes all files that are still held.
    func release() {
        let files = state.withLock { state in
            defer { state = State() }
            return Array(state.paths.values)
        }
        for file in files { try? PlatformCalls.removeFile(file) }
    }
}
