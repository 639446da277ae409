import GRDB
import GRDBSQLite

/// A time after which SQLite gives up what it is doing on a connection, even inside one statement.
///
/// It is looked at between two instructions of SQLite's virtual machine, so one instruction that takes long, as a function
/// of two long texts, ends first; only a process of its own can be ended in the middle of one.
/// Source: sqlite.org/c3ref/progress_handler.html.
final class CheckDeadline: Sendable {
    /// Instructions of SQLite's virtual machine between two looks at the clock.
    private static let instructions: CInt = 200

    private let end: ContinuousClock.Instant

    init(in duration: Duration) { end = .now + duration }

    /// Runs `body`; a statement that is under way at the deadline, or when the task is cancelled, ends with
    /// `SQLITE_INTERRUPT`.
    static func enforce<Result>(_ duration: Duration, on database: Database, body: () throws -> Result) throws -> Result
    {
        let deadline = CheckDeadline(in: duration)
        return try withExtendedLifetime(deadline) {
            guard let connection = database.sqliteConnection else { return try body() }
            deadline.watch(connection)
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            return try body()
        }
    }

    /// From here on; it must outlive the connection, or its last statement.
    func watch(_ connection: OpaquePointer) {
        sqlite3_progress_handler(
            connection, Self.instructions,
            { context in
                guard let context else { return 0 }
                let deadline = Unmanaged<CheckDeadline>.fromOpaque(context).takeUnretainedValue()
                return ContinuousClock.now >= deadline.end ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque())
    }
}
