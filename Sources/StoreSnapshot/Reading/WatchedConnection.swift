import CSQLiteHardening
import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// One connection to SQLite. It is closed with this value, unless it is borrowed.
struct WatchedConnection: ~Copyable {
    private let queue: DatabaseQueue
    private let isOurs: Bool
    private let store: FilePath
    private let watch: ConnectionWatch

    /// - Parameters:
    ///   - address: A path or a `file:` URI.
    ///   - store: The file that errors are about.
    init(address: String, mayWrite: Bool = false, of store: FilePath, watch: ConnectionWatch) throws(SnapshotError) {
        do {
            var configuration = watch.configuration(mayWrite: mayWrite)
            configuration.prepareDatabase { database in
                if !mayWrite {
                    let code = ship_store_spare_writers(database.sqliteConnection)
                    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
                }
                // In WAL mode the first look makes the log's index.
                try Self.tellingRefusals(database, of: store) {
                    try database.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
                }
            }
            func open() throws -> DatabaseQueue {
                let queue = try DatabaseQueue(path: address, configuration: configuration)
                // What it writes is a copy, which is thrown away, or synced once it is kept. A borrowed connection keeps its own
                // setting: its owner goes on to write to the store.
                try queue.unsafeRead { try $0.execute(sql: "PRAGMA synchronous = OFF") }
                return queue
            }
            do {
                queue = try open()
            } catch DatabaseError.SQLITE_CORRUPT {
                // GRDB has a look of its own, and closes the connection that would tell of a page that could not be read.
                queue = try open()
            }
        } catch {
            throw SnapshotError(error, on: store, watch: watch)
        }
        self.store = store
        self.watch = watch
        isOurs = true
        watch.interruption.add(queue)
    }

    /// Borrows an open connection, which stays open.
    init(borrowing queue: DatabaseQueue, of store: FilePath, watch: ConnectionWatch) {
        self.queue = queue
        self.store = store
        self.watch = watch
        isOurs = false
        watch.interruption.add(queue)
    }

    /// Reads a file that no longer changes. It stops when the task is cancelled that calls it.
    static func readingCopy<Value>(
        at path: FilePath, _ body: (Database, Interruption) throws -> Value
    ) throws(SnapshotError) -> Value {
        let interruption = Interruption(followingTask: true)
        let watch = ConnectionWatch(interruption: interruption, busyTimeout: .zero)
        let connection = try WatchedConnection(address: path.immutableDatabaseURI, of: path, watch: watch)
        return try connection.read { database in try body(database, interruption) }
    }

    deinit {
        watch.interruption.remove(queue)
        if isOurs { try? queue.close() }
    }

    /// Runs `body` outside any transaction.
    ///
    /// - Throws: The errors of SQLite as `SnapshotError` cases.
    func read<Value>(_ body: (Database) throws -> Value) throws(SnapshotError) -> Value {
        do {
            return try queue.unsafeRead { database in
                try Self.tellingRefusals(database, of: store) { try body(database) }
            }
        } catch {
            throw SnapshotError(error, on: store, watch: watch)
        }
    }

    /// SQLite says "I/O error" also where the index of a log cannot be made for want of room [os_unix.c, unixShmMap], and that a store is
    /// damaged where the system did not let it read a page (`ship_store_last_refusal`).
    private static func tellingRefusals<Value>(
        _ database: Database, of store: FilePath, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            throw Self.refusal(database, of: store) ?? error
        } catch let error as SnapshotError {
            guard case .corrupt = error else { throw error }
            throw Self.refusal(database, of: store) ?? error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            let errno = Errno(rawValue: sqlite3_system_errno(database.sqliteConnection))
            guard let limit = RoomLimit(errno, makingFile: false, around: store.userFolder) else { throw error }
            throw SnapshotError.noRoom(folder: store.userFolder, limit)
        }
    }

    private static func refusal(_ database: Database, of store: FilePath) -> (any Error)? {
        let refusal = ship_store_last_refusal(database.sqliteConnection)
        return refusal == 0 ? nil : FileError(.read, store, Errno(rawValue: refusal))
    }
}
