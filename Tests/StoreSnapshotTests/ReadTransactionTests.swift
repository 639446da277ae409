import GRDB
import GRDBSQLite
import StoreSnapshot
import Testing

/// A transaction that GRDB would end the process for.
@Suite struct ReadTransactionTests {
    /// How many statements SQLite is still to be stopped in, at their first instruction.
    private final class Interruptions {
        var left: Int

        init(_ left: Int) { self.left = left }
    }

    @Test(arguments: 0...2) func `it ends, although an interruption comes as it does`(interruptions: Int) throws {
        let queue = try DatabaseQueue()
        let counter = Interruptions(interruptions)
        try queue.unsafeRead { database in
            try database.execute(sql: "BEGIN")
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            sqlite3_progress_handler(
                database.sqliteConnection, 1,
                { context in
                    guard let context else { return 0 }
                    let counter = Unmanaged<Interruptions>.fromOpaque(context).takeUnretainedValue()
                    counter.left -= 1
                    return counter.left >= 0 ? 1 : 0
                }, Unmanaged.passUnretained(counter).toOpaque())
            database.endReadTransaction()
            #expect(!database.isInsideTransaction)
            #expect(counter.left < 0)
            sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
            // Where none is open there is nothing to do.
            database.endReadTransaction()
        }
    }
}
