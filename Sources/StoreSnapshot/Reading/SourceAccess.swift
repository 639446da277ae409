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
            let status = try SnapshotError.wrapping { () throws(FileError) in try PlatformCalls.status(of: store) }
            self = .immutable(status)
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
