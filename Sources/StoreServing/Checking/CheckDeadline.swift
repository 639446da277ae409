import CSQLiteHardening
import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Limits on the time and the memory that SQLite may take on a connection. SQLite gives up at the limit, even inside one statement.
///
/// The clock is looked at after some instructions of SQLite's virtual machine, and at the end of each row once the time is
/// over. One call of a function that takes long ends first: only a process of its own can be ended in the middle of one.
/// Source: sqlite.org/c3ref/progress_handler.html, sqlite.org/c3ref/interrupt.html.
final class CheckDeadline: Sendable {
    /// Instructions of SQLite's virtual machine between two looks at the clock.
    private static let instructions: CInt = 1000
    /// The same between two looks at the memory: each instruction may take as much as the longest value.
    private static let memoryInstructions: CInt = 50

    /// SQLite lets any thread interrupt a connection that is open.
    private struct Watched: @unchecked Sendable {
        let connection: OpaquePointer
    }

    private let end: ContinuousClock.Instant
    private let watched = Mutex<Watched?>(nil)
    /// How many bytes SQLite may hold, in all of this process.
    private let mostMemory: Int64?
    private let hadTooMuch = Atomic(false)

    /// - Parameter memory: Bytes by which what SQLite holds in this process may grow; `nil` for any number. SQLite counts for all
    ///   connections together, so that what others take meanwhile counts too; where it was built not to count (that of Apple's
    ///   systems may be: `SQLITE_DEFAULT_MEMSTATUS`) nothing is ever too much.
    init(in duration: Duration, memory: Int64? = nil) {
        end = .now + duration
        mostMemory = memory.flatMap {
            let (most, isBeyond) = sqlite3_memory_used().addingReportingOverflow(max(0, $0))
            return isBeyond ? nil : most
        }
    }

    /// Whether the statement that was ended last was ended for its memory.
    var tookTooMuchMemory: Bool { hadTooMuch.load(ordering: .relaxed) }

    /// Runs `body`; a statement that is under way at the deadline, or when the task is cancelled, ends with `SQLITE_INTERRUPT`.
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

    /// Starts the watch. `leave` ends it, and must come before the connection is closed and before this value is released.
    func watch(_ connection: OpaquePointer) {
        watched.withLock { $0 = Watched(connection: connection) }
        let time = ContinuousClock.now.duration(to: end)
        DispatchQueue.global().asyncAfter(deadline: .now() + max(0, time / .seconds(1))) { [weak self] in
            self?.watched.withLock { if let watched = $0 { sqlite3_interrupt(watched.connection) } }
        }
        sqlite3_progress_handler(
            connection, mostMemory == nil ? Self.instructions : Self.memoryInstructions,
            { context in
                guard let context else { return 0 }
                return Unmanaged<CheckDeadline>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// Called on the thread of the task that runs the statement.
    private var isOver: Bool {
        if let mostMemory, sqlite3_memory_used() > mostMemory {
            hadTooMuch.store(true, ordering: .relaxed)
            return true
        }
        return ContinuousClock.now >= end || Task.isCancelled
    }

    func leave(_ connection: OpaquePointer) {
        watched.withLock { $0 = nil }
        sqlite3_progress_handler(connection, 0, nil, nil)
    }
}
