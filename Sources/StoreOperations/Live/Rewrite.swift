package import GRDB
import GRDBSQLite
import StoreFiles
import StoreFormat
import Synchronization
package import SystemPackage

/// A live store's whole content, replaced by that of a copy in one transaction: SQLite's backup API writes the pages of
/// the copy through a connection to the store, so that every other connection sees one commit.
///
/// `lock`, then whatever needs the old state, and `writeAhead` beside it, then `commit`. In WAL mode readers go on
/// meanwhile, and writers wait; in the other modes everybody waits, as for any commit. The store keeps its journal mode,
/// its page size, and its inode; the schema's cookie changes, so that other connections read the schema anew [backup.c, sqlite3_backup_step].
package final class Rewrite: Sendable {
    private let connection: LiveConnection
    private let journal: Journal
    private let source: DatabaseQueue
    private let copy: FilePath
    /// The schema's cookie before the commit: the new state has another one.
    private let cookie = Mutex<Int?>(nil)
    /// In progress since `lock` in WAL mode. Used on the connection's queue only.
    private let backup = Mutex<Backup?>(nil)

    private enum Journal { case writeAheadLog, rollback }

    /// A pointer that goes from one block on the connection's queue to the next.
    private struct Backup: @unchecked Sendable { let pointer: OpaquePointer }

    /// Pages between two looks at whether to stop.
    private static let pages: CInt = 2048

    /// - Parameter copy: A store in rollback mode that nobody changes, of the page size of the live one: SQLite cannot
    ///   change that of a store in WAL mode.
    package init(of connection: LiveConnection, with copy: FilePath) throws(OperationError) {
        self.connection = connection
        self.copy = copy
        let mode = try connection.run { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        journal = mode == "wal" ? .writeAheadLog : .rollback
        var configuration = Configuration()
        configuration.readonly = true
        do {
            source = try DatabaseQueue(path: DatabaseURI.immutable(copy), configuration: configuration)
        } catch {
            throw OperationError(error, on: copy, connection.patience)
        }
    }

    deinit {
        _ = try? connection.run { _ in finish() }
        try? source.close()
    }

    /// From here on nobody else writes to the store. Nobody who is in the middle of a transaction is in the way of this, or the
    /// other way round: that one commits first.
    package func lock() throws(OperationError) {
        switch journal {
        case .writeAheadLog:
            // Nothing else may be asked of the connection once the backup has begun. Should somebody change the schema before it
            // does, neither state has this cookie.
            try readCookie()
            // A step of no pages takes the lock of the transaction that the other steps are part of.
            try connection.run { database in
                try begin(database)
                try step(0)
            }
        case .rollback:
            try connection.run { database in
                try LiveConnection.keepOthersOut(database, of: connection.store, connection.patience)
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

    /// Through which connection the old state can be read while the store is locked; `nil` for any that one likes.
    package var reader: DatabaseQueue? { journal == .rollback ? connection.queue : nil }

    /// How far a failed rewrite went.
    package enum Failure: Error, Sendable {
        /// The store is as it was, and will be so after a crash too.
        case before(OperationError)
        /// SQLite says that the store is as it was; but the log may hold all of the new state, or the journal be gone, and
        /// a crash before the next commit could bring the new state up.
        case atTheEnd(OperationError)
    }

    /// In WAL mode, writes all pages but the last ones into the log, where nobody sees them: the old state can be read
    /// meanwhile. In the other modes it does nothing.
    package func writeAhead() throws(Failure) {
        guard journal == .writeAheadLog else { return }
        do {
            try connection.run { _ in
                // What is left before the first step is not known; a step of one page tells.
                var pages: CInt = 1
                while remaining > Self.pages {
                    try connection.patience.check()
                    guard try step(pages) != SQLITE_DONE else { return }
                    pages = min(Self.pages, remaining - 1)
                }
            }
        } catch {
            throw .before(error)
        }
    }

    /// Writes the pages that are left, and commits; then the lock is gone.
    package func commit() throws(Failure) {
        var isLastStep = false
        do {
            try connection.run { database in
                defer { finish() }
                if journal == .rollback {
                    try begin(database)
                    try step(0)
                }
                while true {
                    try connection.patience.check()
                    isLastStep = remaining <= Self.pages
                    if try step(Self.pages) == SQLITE_DONE { break }
                }
            }
        } catch {
            throw isLastStep ? .atTheEnd(error) : .before(error)
        }
        if journal == .rollback {
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
        // What this connection takes for the store's state is of no more use.
        try? connection.queue.close()
        let isOld = try? LiveConnection(to: connection.store, .shared, connection.patience).run { database in
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

    /// Longest wait for readers of the old state: where there are always some who read something, SQLite may never find
    /// out that none reads that.
    private static let grace = Duration.seconds(1)

    /// Waits for a while until nobody reads the old state any more, and moves the log into the store.
    ///
    /// Source: sqlite.org/c3ref/wal_checkpoint_v2.html: a full checkpoint waits for all readers of older states.
    ///
    /// - Returns: Whether nobody does.
    package func settle() -> Bool {
        guard journal == .writeAheadLog else { return true }
        connection.patience.shorten(to: Self.grace)
        let isSettled = try? connection.run { database in
            guard let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(FULL)") else { return false }
            // Whether it was kept from its end, the frames of the log, and those of them that are in the store.
            let (busy, frames, moved): (Int, Int, Int) = (row[0], row[1], row[2])
            return busy == 0 && frames == moved
        }
        return isSettled ?? false
    }
}

/// A copy of the bytes of a store that somebody may have open, whatever is in them: read through SQLite's own handle, because
/// closing another one would drop the locks of this process's connections [sqlite.org/howtocorrupt.html section 2.2].
enum RawCopy {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// - Parameter store: To be kept from others' writing meanwhile.
    /// - Throws: `DatabaseError`, `FileError`.
    static func make(of store: FilePath, at target: FilePath) throws {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        var code = store.withPlatformString {
            sqlite3_open_v2($0, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nil)
        }
        if code == SQLITE_OK { code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) }
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_OK ? SQLITE_MISUSE : code))
        }
        let output = try OpenFile.creating(target)
        let size = try PlatformCalls.status(of: store).size
        var offset: Int64 = 0
        while offset < size {
            if Task.isCancelled { throw FileError(.write, target, .canceled) }
            var piece = [UInt8](repeating: 0, count: Int(min(Int64(pieceSize), size - offset)))
            code = read(file, &piece, CInt(piece.count), offset)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        try output.sync()
    }
}

/// Whether two stores have the same schema and the same rows: their pages may differ all the same.
package enum RowComparison {
    /// - Parameters:
    ///   - connection: To one of them.
    ///   - other: Where the other one is; it may be in use.
    package static func areEqual(
        _ connection: DatabaseQueue, _ other: FilePath, _ patience: Patience
    ) throws(OperationError) -> Bool {
        // A connection that may only read would leave the files of WAL mode beside the store.
        try LiveConnection(to: other, .shared, patience).run { other in
            try connection.unsafeRead { one in try areEqual(one, other, patience) }
        }
    }

    private static func areEqual(_ one: Database, _ other: Database, _ patience: Patience) throws -> Bool {
        // The numbers of the root pages are the file's own affair.
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        guard try haveSameRows(one, other, schema, patience) else { return false }
        let tables = try String.fetchAll(
            one, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return try tables.allSatisfy { table in
            // In the order of the table's own b-tree, which a compact copy keeps.
            try haveSameRows(one, other, "SELECT * FROM \(SQLName.quoted(table))", patience)
        }
    }

    private static func haveSameRows(
        _ one: Database, _ other: Database, _ query: String, _ patience: Patience
    ) throws -> Bool {
        let left = try Row.fetchCursor(one, sql: query)
        let right = try Row.fetchCursor(other, sql: query)
        while let row = try left.next() {
            try patience.check()
            guard let counterpart = try right.next(), row == counterpart else { return false }
        }
        return try right.next() == nil
    }
}
