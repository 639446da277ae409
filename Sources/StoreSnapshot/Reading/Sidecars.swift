import ShipProtocol
import StoreFiles
import SystemPackage

/// The files that SQLite keeps beside a store.
struct Sidecars: Hashable, Sendable {
    let hasLog: Bool
    let hasIndex: Bool
    /// Whether the log holds more than its header of 32 bytes [sqlite.org/fileformat2.html section 4.1].
    let logHasFrames: Bool
    let hasJournal: Bool

    private static let logHeaderSize: Int64 = 32

    /// Reads which files are there now.
    init(beside store: FilePath) {
        let log = try? PlatformCalls.status(of: Self.log(of: store))
        hasLog = log != nil
        logHasFrames = (log?.size ?? 0) > Self.logHeaderSize
        hasIndex = (try? PlatformCalls.status(of: Self.index(of: store))) != nil
        hasJournal = (try? PlatformCalls.status(of: FilePath(text: store.text + "-journal"))) != nil
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
