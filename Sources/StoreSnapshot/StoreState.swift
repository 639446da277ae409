import GRDB
import GRDBSQLite
package import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The state of a store. If two states are equal, nothing has been written in between: another copy by the same program with the
/// same options would have the same bytes. If two states differ, the content may still be the same.
///
/// It is the SHA-256 of these, read in one read transaction:
///
/// - Device, inode, size, mtime and ctime of the store's file. Each write changes the ctime, which no program can set: also a write
///   without a journal, of a process that dies in a transaction, or of an old file over this one. Neither time may be so recent that
///   another write could fall into the same step of the clock.
/// - The file's header, with the schema cookie and the change counter, which each commit in a rollback mode increments. A writer that
///   keeps its exclusive lock does not increment it again, but no other connection reads the store meanwhile.
/// - In WAL mode the log's salts, its last valid frame, and the checksum over all frames up to that one: commits do not increment the
///   change counter there. A log that begins anew has other salts. The content of a log that is gone has been moved to the store's
///   file, which then has another time. If the log has valid frames, also the log's file without its ctime: SQLite sets the owner of
///   the file each time that root opens it [os_unix.c, robustFchown].
/// - The identifier of the system's boot: after a power cut a file may have new content and its old times, because SQLite makes only
///   the content durable [fdatasync(2)].
/// - The version of SQLite.
///
/// If any of these cannot be told, there is no state: another connection keeps all others out, a transaction was interrupted, the
/// store is read without locks, its index cannot be read, or the path leads to another file than the open one. There is no state
/// either if the store's support folder holds external files: copies give these second names, which changes their ctime; and the mtime
/// does not suffice, because programs can set it, and a mapped page may change without it.
///
/// Not detected: writes through a mapping of the file by an SQLite that was built with `SQLITE_MMAP_READWRITE`, in WAL mode and with
/// `synchronous = OFF`.
package struct StoreState: Hashable, Codable, Sendable {
    package let digest: ContentDigest

    /// How often to begin anew while others commit.
    private static let attempts = 3
}

extension StoreState {
    /// The state of a store of which an inbox holds one generation after the other.
    package init(ofGeneration name: String) { digest = ContentDigest(hashing: Array("generation \(name)".utf8)) }

    /// - Returns: `nil` where it cannot be told.
    init?(of database: Database, at path: FilePath, _ interruption: Interruption) throws {
        // The first transaction makes the index.
        _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
        let bytes = try LogState.inTransaction(of: database, interruption, attempts: Self.attempts) { log in
            try Self.bytes(of: database, at: path, log)
        }
        guard let bytes else { return nil }
        digest = ContentDigest(hashing: bytes)
    }

    private static func bytes(of database: Database, at path: FilePath, _ log: LogState) throws -> [UInt8]? {
        guard let boot = PlatformCalls.bootIdentifier,
            let file = SnapshotPages.file(SQLITE_FCNTL_FILE_POINTER, of: database)
        else { return nil }
        let status = try PlatformCalls.status(of: path)
        guard status.kind == .file else { return nil }
        var header = [UInt8](repeating: 0, count: min(Int(clamping: status.size), DatabaseHeader.size))
        let isRead = header.isEmpty || header.withUnsafeMutableBytes { SnapshotPages.read(file, into: $0, at: 0) }
        let logLines: String
        if !log.isMade {
            logLines = "no log"
        } else if log.frameCount == 0 {
            logLines = "log \(numbers(log.content))"
        } else {
            let file = try PlatformCalls.status(of: Sidecars.log(of: path))
            guard file.kind == .file else { return nil }
            logLines = "log \(numbers(log.content)) \(lineOfContent(file))"
        }
        guard isRead, try !hasExternalFiles(beside: path) else { return nil }
        // The path leads to the open file, and did so all the while.
        guard !SnapshotPages.hasMoved(database), try PlatformCalls.status(of: path) == status,
            status.isSettled(at: PlatformCalls.timeOfDay)
        else { return nil }
        let lines = [
            "ship-store state 2", String(cString: sqlite3_sourceid()), boot, line(status), numbers(header),
            logLines,
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func line(_ status: FileStatus) -> String { "\(lineOfContent(status)) \(number(status.changed))" }

    /// A file in one line, without the time that second names and other owners change.
    private static func lineOfContent(_ status: FileStatus) -> String {
        "\(status.device) \(status.inode) \(status.size) \(number(status.modified))"
    }

    private static func number(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        return "\(seconds) \(attoseconds)"
    }

    // To describe an array or a tuple, Swift looks at its type: the first time that takes a millisecond.
    private static func numbers(_ bytes: [UInt8]) -> String { bytes.map { String($0) }.joined(separator: " ") }

    /// Whether there are external files to which the rows could refer.
    private static func hasExternalFiles(beside path: FilePath) throws -> Bool {
        let support = SourceSupportFolder(beside: path)
        guard try PlatformCalls.isThere(support.path) else { return false }
        for kind in ExternalFileName.Folder.allCases {
            guard let component = FilePath.Component(kind.rawValue) else { return true }
            let place = support.path.appending(component)
            guard try PlatformCalls.isThere(place) else { continue }
            let folder = try OpenFolder(support.path).folder(component)
            guard try folder.names(in: place).isEmpty else { return true }
        }
        return false
    }
}
