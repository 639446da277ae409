import GRDB
import GRDBSQLite

/// A copy of a store page by page, free pages and journal mode included, with SQLite's backup API.
enum PageCopy {
    /// Pages between two looks at the interruption.
    private static let pages: CInt = 1024

    /// Copies one state of the store: the read transaction is held all the while, or each commit of another connection
    /// would make the backup begin anew [sqlite.org/c3ref/backup_finish.html].
    ///
    /// - Parameter settle: Runs the step that begins the transaction.
    static func copy(
        _ source: Database, to target: Database, _ room: Room, _ interruption: Interruption,
        settle: (() throws -> Bool) throws -> Void
    ) throws {
        defer { try? source.execute(sql: "COMMIT") }
        try settle {
            try source.execute(sql: "BEGIN")
            // This is what takes the lock.
            _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_master")
            return true
        }
        try room.watch(target) {
            guard let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
            else { throw DatabaseError(resultCode: target.lastErrorCode, message: target.lastErrorMessage) }
            var code = SQLITE_OK
            while code == SQLITE_OK, !interruption.isCancelled { code = sqlite3_backup_step(backup, pages) }
            let finished = sqlite3_backup_finish(backup)
            try interruption.check()
            guard code == SQLITE_DONE, finished == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: target.lastErrorMessage)
            }
        }
    }
}
