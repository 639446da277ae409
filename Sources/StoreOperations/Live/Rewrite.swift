package import GRDB
import GRDBSQLite
import StoreFiles
import Synchronization
package import SystemPackage

/// Replaces a live store's whole content by that of a copy, in one transaction: SQLite's backup API writes the pages of the copy
/// through a connection to the store, so that every other connection sees one commit.
///
/// The order: `lock`; then all that needs the old state, with `writeAhead` beside it; then `commit`. In WAL mode readers go on meanwhile,
/// and writers wait; in the other modes all others wait, as for any commit. The store keeps its journal mode, its page size, and its inode;
/// the schema's cookie changes, so that other connections read the schema anew [backup.c, sqlite3_backup_step].
package final class Rewrite: Sendable {
    private let connection: LiveConnection
    /// Whether the store is in WAL mode.
    private let isWAL: Bool
    private let source: DatabaseQueue
    /// The schema's cookie before the commit: the new state has another one.
    private let cookie = Mutex<Int?>(nil)
    /// In progress since `lock` in WAL mode. Used on the connection's queue only.
    private let backup = Mutex<Backup?>(nil)
    private let failureAtTheEnd = Atomic(false)

    /// A pointer that goes from one block on the connection's queue to the next.
    private struct Backup: @unchecked Sendable { let pointer: OpaquePointer }

    /// Pages between two looks at whether to stop.
    private static let pages: CInt = 2048

    /// - Parameter copy: A store in rollback mode that never changes, with the page size of the live one: SQLite cannot change
    ///   the page size of a store in WAL mode.
    package init(of connection: LiveConnection, with copy: FilePath) throws(OperationError) {
        self.connection = connection
        let mode = try connection.run { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        isWAL = mode == "wal"
        var configuration = Configuration()
        configuration.readonly = true
        do {
            source = try DatabaseQueue(path: copy.immutableDatabaseURI, configuration: configuration)
        } catch {
            throw OperationError(error, on: copy, connection.busyHandler)
        }
    }

    deinit {
        _ = try? connection.run { _ in finish() }
        try? source.close()
    }

    /// From here on no other connection writes to the store. A connection in the middle of a transaction commits first; neither
    /// blocks the other.
    package func lock() throws(OperationError) {
        if isWAL {
            // Nothing else may be asked of the connection once the backup has begun. If another connection changes the schema
            // before that, neither state has this cookie.
            try readCookie()
            // A step of no pages takes the lock of the transaction that the other steps are part of.
            try connection.run { database in
                try begin(database)
                try step(0)
            }
        } else {
            try connection.run { database in
                try LiveConnection.keepOthersOut(database, of: connection.store, connection.busyHandler)
                try LiveConnection.confirmLock(database)
            }
            try readCookie()
        }
    }

    private func readCookie() throws(OperationError) {
        let found = try connection.run { try Int.fetchOne($0, sql: Self.cookieQuery) }
        cookie.withLock { $0 = found }
    }

    private static let cookieQuery = "PRAGMA schema_version"

    /// The connection through which the old state can be read while the store is locked; `nil` if any will do.
    package var reader: DatabaseQueue? { isWAL ? nil : connection.queue }

    /// Whether the commit failed at its end. SQLite says that the store is as it was; but the log may hold all of the new state,
    /// or the journal be gone, and a crash before the next commit could bring the new state up. After any other failure the store
    /// is as it was, and will be so after a crash too.
    package var hasFailedAtTheEnd: Bool { failureAtTheEnd.load(ordering: .relaxed) }

    /// In WAL mode, writes all pages but the last ones into the log, where no reader sees them: the old state can be read
    /// meanwhile. In the other modes it does nothing.
    package func writeAhead() throws(OperationError) {
        guard isWAL else { return }
        try connection.run { _ in
            // The number of pages that are left is unknown before the first step: a step of one page tells it.
            var pages: CInt = 1
            while remaining > Self.pages {
                try connection.busyHandler.check()
                guard try step(pages) != SQLITE_DONE else { return }
                pages = min(Self.pages, remaining - 1)
            }
        }
    }

    /// Writes the pages that are left, and commits; then the lock is gone.
    package func commit() throws(OperationError) {
        var isLastStep = false
        do throws(OperationError) {
            try connection.run { database in
                defer { finish() }
                if !isWAL {
                    try begin(database)
                    try step(0)
                }
                while true {
                    try connection.busyHandler.check()
                    isLastStep = remaining <= Self.pages
                    if try step(Self.pages) == SQLITE_DONE { break }
                }
            }
        } catch {
            failureAtTheEnd.store(isLastStep, ordering: .relaxed)
            throw error
        }
        if !isWAL {
            try? connection.run {
                try $0.execute(sql: "PRAGMA main.locking_mode = NORMAL; SELECT 1 FROM sqlite_master")
            }
        }
    }

    /// After a failure at the end: opens the store anew, and commits something that changes nothing. Where that succeeds, it
    /// stands where the failed commit would have stood, which nothing can bring up any more.
    ///
    /// - Returns: Whether the store is as it was, for good.
    package func undoForGood() -> Bool {
        guard let cookie = cookie.withLock({ $0 }) else { return false }
        // This connection's view of the store is of no more use.
        try? connection.queue.close()
        let isOld = try? LiveConnection(to: connection.store, connection.busyHandler).run { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            guard try Int.fetchOne(database, sql: Self.cookieQuery) == cookie else { return false }
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try database.execute(sql: "PRAGMA user_version = \(version); COMMIT")
            return true
        }
        return isOld ?? false
    }

    private func begin(_ database: Database) throws {
        // Nothing else uses the source.
        let pointer = source.unsafeRead { source in
            sqlite3_backup_init(database.sqliteConnection, "main", source.sqliteConnection, "main").map(Backup.init)
        }
        guard let pointer else {
            throw DatabaseError(resultCode: database.lastErrorCode, message: database.lastErrorMessage)
        }
        backup.withLock { $0 = pointer }
    }

    /// - Returns: `SQLITE_DONE`, or `SQLITE_OK` if there is more to do.
    @discardableResult
    private func step(_ pages: CInt) throws -> CInt {
        guard let backup = backup.withLock({ $0 }) else { return SQLITE_DONE }
        let code = sqlite3_backup_step(backup.pointer, pages)
        guard code == SQLITE_OK || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
        return code
    }

    private var remaining: CInt {
        let backup = backup.withLock { $0 }
        return backup.map { sqlite3_backup_remaining($0.pointer) } ?? 0
    }

    /// Rolls back what has not been committed.
    private func finish() {
        let pointer = backup.withLock { backup in
            defer { backup = nil }
            return backup?.pointer
        }
        if let pointer { sqlite3_backup_finish(pointer) }
    }

    /// Longest wait for readers of the old state: where there are always readers, SQLite may never find out that none of them
    /// reads that state.
    private static let grace = Duration.seconds(1)

    /// Waits for a while until the old state has no readers any more, and moves the log into the store.
    ///
    /// Source: sqlite.org/c3ref/wal_checkpoint_v2.html: a full checkpoint waits for all readers of older states.
    ///
    /// - Returns: Whether it has none.
    package func settle() -> Bool {
        guard isWAL else { return true }
        connection.busyHandler.shorten(to: Self.grace)
        let isSettled = try? connection.run { database in
            guard let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(FULL)") else { return false }
            // Whether it was kept from its end, the frames of the log, and those of them that are in the store.
            let (busy, frames, moved): (Int, Int, Int) = (row[0], row[1], row[2])
            return busy == 0 && frames == moved
        }
        return isSettled ?? false
    }
}
