import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// How to open the source store so that it does not change.
enum SourceAccess: Hashable, Sendable {
    /// As any other reader, with SQLite's locks.
    case locking
    /// Without locks and without a look for a log, `immutable=1`; valid only if the file has not changed in the end.
    ///
    /// SQLite cannot open a store in WAL mode in another way where it cannot make the index. The log is empty or absent, so
    /// the file holds all the data. A process with more rights that writes to the store meanwhile makes a log first, and
    /// changes the file's time when it moves the log into the file: `isStillValid` sees both.
    case immutable(FileStatus)

    /// - Throws: `.notADatabase`, `.truncated`, `.noPermission`, `.writeAheadLogOnReadOnlyMedium`.
    init(to store: FilePath, sidecars: Sidecars) throws(SnapshotError) {
        let header = try StoreHandle(store).header()
        guard header?.isInWALMode == true, !sidecars.hasLog || !sidecars.hasIndex else {
            self = .locking
            return
        }
        let folderIsWritable = PlatformCalls.canWrite(store.removingLastComponent())
        if sidecars.logHasFrames {
            guard folderIsWritable || sidecars.hasIndex else { throw .writeAheadLogOnReadOnlyMedium(store) }
            self = .locking
        } else if folderIsWritable && PlatformCalls.canWrite(store) {
            self = .locking
        } else {
            do throws(FileError) {
                self = .immutable(try PlatformCalls.status(of: store))
            } catch {
                throw .file(error)
            }
        }
    }

    /// The path, or a URI, that makes SQLite open the store in this way.
    func address(of store: FilePath) -> String {
        switch self {
        case .locking: store.databaseURI
        case .immutable: store.immutableDatabaseURI
        }
    }

    /// Whether the bytes that were read are of one state of the store.
    func isStillValid(for store: FilePath) -> Bool {
        switch self {
        case .locking: true
        case .immutable(let before):
            (try? PlatformCalls.status(of: store)) == before && !Sidecars(beside: store).logHasFrames
        }
    }
}

/// The files that SQLite keeps beside a store in WAL mode.
struct Sidecars: Hashable, Sendable {
    let hasLog: Bool
    let hasIndex: Bool
    /// Whether the log holds more than its header of 32 bytes [sqlite.org/fileformat2.html section 4.1].
    let logHasFrames: Bool

    private static let logHeaderSize: Int64 = 32

    /// Reads which files are there now.
    init(beside store: FilePath) {
        let log = try? PlatformCalls.status(of: Self.log(of: store))
        hasLog = log != nil
        logHasFrames = (log?.size ?? 0) > Self.logHeaderSize
        hasIndex = (try? PlatformCalls.status(of: Self.index(of: store))) != nil
    }

    static func log(of store: FilePath) -> FilePath { FilePath(text: store.text + "-wal") }
    static func index(of store: FilePath) -> FilePath { FilePath(text: store.text + "-shm") }

    /// Removes the files that a read-only connection made beside the store and left there. Call it once that is closed.
    ///
    /// SQLite removes both files when the last connection is closed, but only if that connection may write; and then it
    /// also moves the log's content into the store. This does it as SQLite does: under the exclusive lock, which is free
    /// only while no other connection has the store open. A log that is not empty belongs to another process, and stays. If
    /// the lock is taken, the store is in use, and so are the files.
    ///
    /// - Parameter before: The files that were there before the connection was opened.
    static func restore(_ before: Sidecars, beside store: FilePath) {
        guard !before.hasLog || !before.hasIndex else { return }
        let now = Sidecars(beside: store)
        guard now.hasLog && !before.hasLog || now.hasIndex && !before.hasIndex else { return }
        guard let handle = try? StoreHandle(store, mayLock: true) else { return }
        _ = handle.withExclusiveLock {
            if !before.hasIndex { try? PlatformCalls.removeFile(index(of: store)) }
            if !before.hasLog, (try? PlatformCalls.status(of: log(of: store)).size) == 0 {
                try? PlatformCalls.removeFile(log(of: store))
            }
        }
    }
}

/// The places where something is mounted.
enum MountPoints {
    /// Most bytes of the list.
    private static let mostBytes = 4 * 1024 * 1024

    /// Whether a file is mounted alone, as containers get single files of their host. Where there is no list, it is not.
    ///
    /// Source: proc_pid_mountinfo(5): the fifth field of each line, in which some bytes are octal.
    static func contain(_ path: FilePath) -> Bool {
        guard let list = try? OpenFile.reading("/proc/self/mountinfo") else { return false }
        var bytes: [UInt8] = []
        while bytes.count < mostBytes, let piece = (try? list.readNext(65_536)) ?? nil, !piece.isEmpty {
            bytes += piece
        }
        let wanted = path.bytes.flatMap { byte -> [UInt8] in
            guard [0x20, 0x09, 0x0A, 0x5C].contains(byte) else { return [byte] }
            return Array("\\\(String(repeating: "0", count: byte < 0o100 ? 1 : 0))\(String(byte, radix: 8))".utf8)
        }
        return bytes.split(separator: 0x0A).contains { line in
            line.split(separator: 0x20, maxSplits: 5).dropFirst(4).first.map { $0.elementsEqual(wanted) } ?? false
        }
    }
}
