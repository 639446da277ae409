import StoreFiles
import SystemPackage

/// The files that SQLite keeps beside a store in WAL mode.
struct Sidecars: Hashable, Sendable {
    let hasLog: Bool
    let hasIndex: Bool
    /// Whether the log holds more than its header of 32 bytes [sqlite.org/fileformat2.html section 4.1].
    let logHasFrames: Bool

    private static let logHeaderSize: Int64 = 32

    /// Looks at what is there now.
    init(beside store: FilePath) {
        let log = try? PlatformCalls.status(of: Self.log(of: store))
        hasLog = log != nil
        logHasFrames = (log?.size ?? 0) > Self.logHeaderSize
        hasIndex = (try? PlatformCalls.status(of: Self.index(of: store))) != nil
    }

    static func log(of store: FilePath) -> FilePath { FilePath(store.string + "-wal") }
    static func index(of store: FilePath) -> FilePath { FilePath(store.string + "-shm") }

    /// Removes what a read-only connection to the store made beside it and left there; call it once that is closed.
    ///
    /// SQLite removes both files when the last connection is closed, but only if that one may write; and such a one would
    /// also move the log's content into the store. So it is done here, in the way of SQLite itself: under the exclusive
    /// lock, which nobody gets while anybody has the store open. A log that is not empty belongs to somebody else, and
    /// stays. If the lock cannot be had, the store is in use and so are the files.
    ///
    /// - Parameter before: What was there before the connection was opened.
    static func restore(_ before: Sidecars, beside store: FilePath) {
        guard !before.hasLog || !before.hasIndex else { return }
        let now = Sidecars(beside: store)
        guard now.hasLog && !before.hasLog || now.hasIndex && !before.hasIndex else { return }
        guard let handle = try? StoreHandle(store, for: .locking) else { return }
        _ = handle.withExclusiveLock {
            if !before.hasIndex { try? PlatformCalls.removeFile(index(of: store)) }
            if !before.hasLog, (try? PlatformCalls.status(of: log(of: store)).size) == 0 {
                try? PlatformCalls.removeFile(log(of: store))
            }
        }
    }
}
