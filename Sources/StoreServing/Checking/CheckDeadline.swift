import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// A time after which SQLite gives up what it is doing on a connection, even inside one statement.
///
/// The clock is looked at after some instructions of SQLite's virtual machine, and at the end of each row once the time is
/// over. One call of a function that takes long ends first: only a process of its own can be ended in the middle of one.
/// Source: sqlite.org/c3ref/progress_handler.html, sqlite.org/c3ref/interrupt.html.
final class CheckDeadline: Sendable {
    /// Instructions of SQLite's virtual machine between two looks at the clock.
    private static let instructions: CInt = 1000

    /// SQLite lets any thread interrupt a connection that is open.
    private struct Watched: @unchecked Sendable {
        let connection: OpaquePointer
    }

    private let end: ContinuousClock.Instant
    private let watched = Mutex<Watched?>(nil)

    init(in duration: Duration) { end = .now + duration }

    /// Runs `body`; a statement that is under way at the deadline, or when the task is cancelled, ends with
    /// `SQLITE_INTERRUPT`.
    static func enforce<Result>(_ duration: Duration, on database: Database, body: () throws -> Result) throws -> Result
    {
        let deadline = CheckDeadline(in: duration)
        return try withExtendedLifetime(deadline) {
            guard let connection = database.sqliteConnection else { return try body() }
            deadline.watch(connection)
            defer { deadline.leave(connection) }
            return try body()
        }
    }

    /// From here on, until `leave`, which must come before the connection is closed, or this value goes.
    func watch(_ connection: OpaquePointer) {
        watched.withLock { $0 = Watched(connection: connection) }
        let time = ContinuousClock.now.duration(to: end)
        DispatchQueue.global().asyncAfter(deadline: .now() + max(0, time / .seconds(1))) { [weak self] in
            self?.watched.withLock { if let watched = $0 { sqlite3_interrupt(watched.connection) } }
        }
        sqlite3_progress_handler(
            connection, Self.instructions,
            { context in
                guard let context else { return 0 }
                let deadline = Unmanaged<CheckDeadline>.fromOpaque(context).takeUnretainedValue()
                // This is the thread of the task that runs the statement.
                return ContinuousClock.now >= deadline.end || Task.isCancelled ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    func leave(_ connection: OpaquePointer) {
        watched.withLock { $0 = nil }
        sqlite3_progress_handler(connection, 0, nil, nil)
    }
}
