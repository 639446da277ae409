import GRDB
import GRDBSQLite
package import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// What a store is in: two that are equal say that nothing has been written in between, so that a copy
/// would have the same bytes, by the same program with the same options. Two that differ say nothing.
///
/// It is the SHA-256 of all of this, read in one read transaction:
///
/// - The store's file: device, inode, size, and both of its times. Whatever writes to it changes the one of them that nobody can
///   set, also a writer that keeps no journal, one that dies amid a transaction, and one that puts an old file over it. Neither time
///   may be so young that another write could come within the same step of the clock.
/// - Its header, with the change counter, which each commit in a rollback mode counts up, and the schema cookie. A writer that keeps its
///   exclusive lock does not count any further, but nobody reads beside it either.
/// - In WAL mode the log's salts, the last frame that counts, and the sum over all frames up to it. Commits do not touch the change
///   counter there. A log that begins anew has other salts; one that is gone has been moved to the store's file, which then has
///   another time. If frames count, the file of the log as well, but for the time that nobody can set: SQLite gives the file
///   its owner each time that root opens it [os_unix.c, robustFchown].
/// - Which start of the system it is: after a power cut a file may have new content and its old times, since SQLite makes only the
///   content durable [fdatasync(2)].
/// - The version of SQLite.
///
/// Where any of it cannot be told there is no state: another connection keeps everybody out, a transaction was cut off, the
/// store is read without locks, its index cannot be read, or the name leads to another file than the open one. Nor is there one where the
/// store's support folder holds external files: copies give these second names, so that the one time of theirs that nobody can set
/// says nothing, and the other says too little: it can be set back, and a page that is mapped may change once more without moving it.
///
/// What is not seen: writes through a mapping of the file by an SQLite that was built with `SQLITE_MMAP_READWRITE`, in WAL mode and with
/// `synchronous = OFF`.
package struct StoreState: Hashable, Codable, Sendable {
    package let digest: ContentDigest

    /// How often to look anew while others commit.
    private static let attempts = 3
}

extension SourceStore {
    /// How long to wait for a connection that keeps everybody out, at most.
    private static let statePatience = Duration.milliseconds(250)

    /// What the store is in now. Nothing about it changes.
    ///
    /// - Returns: `nil` where that cannot be told.
    /// - Throws: `.cancelled`, and nothing else.
    package func state() async throws(SnapshotError) -> StoreState? {
        try await Interruption.run { interruption throws(SnapshotError) in try readState(interruption) }
    }

    func readState(_ interruption: Interruption) throws(SnapshotError) -> StoreState? {
        guard held == nil else { return nil }
        let sidecars = Sidecars(beside: path)
        defer { Sidecars.restore(sidecars, beside: path) }
        let watch = ConnectionWatch(interruption: interruption, busyTimeout: min(busyTimeout, Self.statePatience))
        do throws(SnapshotError) {
            let access = try SourceAccess(to: path, sidecars: sidecars)
            guard case .locking = access else { return nil }
            let connection = try WatchedConnection(address: access.address(of: path), to: .read, of: path, watch: watch)
            return try connection.read { try StoreState(of: $0, at: path, interruption) }
        } catch {
            guard error != .cancelled else { throw error }
            return nil
        }
    }
}

extension StoreState {
    /// - Returns: `nil` where it cannot be told.
    init?(of database: Database, at path: FilePath, _ interruption: Interruption) throws {
        // Without a transaction before it there would be no index yet.
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
        let stamp = try FileStamp(of: path)
        var header = [UInt8](repeating: 0, count: min(Int(clamping: stamp.size), DatabaseHeader.size))
        let isRead = header.isEmpty || header.withUnsafeMutableBytes { SnapshotPages.read(file, into: $0, at: 0) }
        let logLines: String
        switch log {
        case .none: logLines = "no log"
        case .log(let log) where log.frameCount == 0: logLines = "log \(log.content)"
        case .log(let log):
            let file = FileLine(ofContent: try FileStamp(of: Sidecars.log(of: path)))
            logLines = "log \(log.content) \(file)"
        }
        guard isRead, try !hasExternalFiles(beside: path) else { return nil }
        // The name leads to the file that is open, and has done so all the while.
        guard !SnapshotPages.hasMoved(database), try FileStamp(of: path) == stamp,
            stamp.isSettled(at: PlatformCalls.timeOfDay)
        else { return nil }
        let lines =
            [
                "ship-store state 1", String(cString: sqlite3_sourceid()), boot, "\(FileLine(stamp))", "\(header)",
                logLines,
            ]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// A file in one line.
    private struct FileLine: CustomStringConvertible {
        let description: String

        init(_ stamp: FileStamp) {
            description = "\(FileLine(ofContent: stamp)) \(stamp.changed.components)"
        }

        /// Without the time that second names and other owners change.
        init(ofContent stamp: FileStamp) {
            description = "\(stamp.device) \(stamp.inode) \(stamp.size) \(stamp.modified.components)"
        }
    }

    /// Whether there are files to which the rows could refer.
    private static func hasExternalFiles(beside path: FilePath) throws -> Bool {
        let support = SourceSupportFolder(beside: path)
        guard try isThere(support.path) else { return false }
        for kind in ExternalFileName.Folder.allCases {
            guard let component = FilePath.Component(kind.rawValue) else { return true }
            let place = support.path.appending(component)
            guard try isThere(place) else { continue }
            let folder = try OpenFolder(support.path).folder(component)
            guard try folder.names(in: place).isEmpty else { return true }
        }
        return false
    }

    private static func isThere(_ path: FilePath) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try PlatformCalls.status(of: path)
            return true
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }
}
