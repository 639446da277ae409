import GRDB
import GRDBSQLite

/// A time after which SQLite gives up what it is doing on a connection, even inside one statement.
///
/// Source: sqlite.org/c3ref/progress_handler.html.
final class CheckDeadline: Sendable {
    /// Instructions of SQLite's virtual machine between two looks at the clock.
    private static let instructions: CInt = 10_000

    private let end: ContinuousClock.Instant

    private init(_ end: ContinuousClock.Instant) { self.end = end }

    /// Runs `body`; a statement that is under way at the deadline, or when the task is cancelled, ends with
    /// `SQLITE_INTERRUPT`.
    static func enforce<Result>(_ duration: Duration, on database: Database, body: () throws -> Result) throws -> Result
    {
        let deadline = CheckDeadline(.now + duration)
        return try withExtendedLifetime(deadline) {
            sqlite3_progress_handler(
                database.sqliteConnection, instructions,
                { context in
                    guard let context else { return 0 }
                    let deadline = Unmanaged<CheckDeadline>.fromOpaque(context).takeUnretainedValue()
                    return ContinuousClock.now >= deadline.end ? 1 : 0
                },
                Unmanaged.passUnretained(deadline).toOpaque())
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            return try body()
        }
    }
}
