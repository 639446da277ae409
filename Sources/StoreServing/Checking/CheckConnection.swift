import CSQLiteHardening
import Dispatch
import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage

/// A connection through which SQLite checks a store that is not trusted: hardened, and with a deadline, before SQLite reads a
/// byte of it.
///
/// GRDB's connections will not do: they read the schema when they open, and decode names that may be no text.
final class CheckConnection {
    /// Longest message of SQLite's that is handed on, in bytes: it contains names from the store.
    private static let longestWords = 512

    private let connection: OpaquePointer
    /// In a process with other work, one row or value may take this fraction of the memory.
    private static let shareOfValue: Int64 = 8

    private let deadline: CheckDeadline
    private let limits: CheckLimits
    /// Whether the limit on a value's length is below the size of the file.
    private let isShort: Bool

    /// - Throws: `.unreadable`.
    init(
        _ path: FilePath, size: Int64, _ limits: CheckLimits, inOwnProcess: Bool
    ) throws(StoreCheck.Flaw) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path.settledDatabaseURI, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw .unreadable(code: code, message: ForeignText(String(cString: sqlite3_errstr(code))))
        }
        connection = opened
        let longest = inOwnProcess ? size : min(size, limits.memory / Self.shareOfValue)
        deadline = CheckDeadline(in: limits.time, memory: inOwnProcess ? nil : limits.memory)
        (self.limits, isShort) = (limits, longest < size)
        sqlite3_extended_result_codes(connection, 1)
        StoreTrust.unchecked.harden(connection, longestValue: longest)
        deadline.watch(connection)
        for pragma in ["cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY"] {
            _ = try rows("PRAGMA \(pragma)", atMost: 1) { _ in }
        }
    }

    deinit {
        deadline.leave(connection)
        sqlite3_close_v2(connection)
    }

    /// Runs a statement, row by row.
    ///
    /// - Parameter count: After this number of rows the statement ends.
    /// - Throws: `.tookTooLong`, `.tookTooMuchMemory`, `.unreadable`.
    func rows<Value>(_ sql: String, atMost count: Int = .max, _ read: (Row) -> Value) throws(StoreCheck.Flaw) -> [Value]
    {
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v2(connection, sql, -1, &prepared, nil))
        defer { sqlite3_finalize(prepared) }
        guard let statement = prepared else { return [] }
        var values: [Value] = []
        while values.count < count {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else {
                try check(code)
                break
            }
            values.append(read(Row(statement: statement)))
        }
        return values
    }

    /// The value of a statement of one row and one column.
    func value<Value>(_ sql: String, _ read: (Row) -> Value) throws(StoreCheck.Flaw) -> Value? {
        try rows(sql, atMost: 1, read).first
    }

    private func check(_ code: CInt) throws(StoreCheck.Flaw) {
        switch code & 0xff {
        case SQLITE_OK: return
        case SQLITE_INTERRUPT where !deadline.tookTooMuchMemory: throw .tookTooLong(limits.time)
        case SQLITE_TOOBIG where isShort: throw .tookTooMuchMemory(limits.memory)
        case SQLITE_NOMEM, SQLITE_INTERRUPT: throw .tookTooMuchMemory(limits.memory)
        default:
            throw .unreadable(
                code: code, message: Self.words(sqlite3_errmsg(connection).map { String(cString: $0) } ?? ""))
        }
    }

    static func words(_ text: String) -> ForeignText {
        ForeignText(String(decoding: text.utf8.prefix(longestWords), as: UTF8.self))
    }

    /// The row that a statement stands on. A value of another type than the one that is asked for never traps.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

        /// Text up to a zero byte, repaired, or a blob that is text: as producers read it. Otherwise `nil`.
        func text(_ column: CInt) -> String? {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_TEXT: sqlite3_column_text(statement, column).map { String(cString: $0) }
            case SQLITE_BLOB: String(validating: bytes(column), as: UTF8.self)
            default: nil
            }
        }

        /// Empty for NULL.
        func bytes(_ column: CInt) -> [UInt8] {
            guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
            return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }
}

/// The address of a settled file for SQLite: the file never changes, and SQLite does not look at the files beside it.
extension FilePath {
    /// Names in a folder that is open, or in that in which this process runs, are taken as they are
    /// (`OpenFolder.pathByDescriptor`, `CheckerProcess`): SQLite would resolve the path from the root, and others may have put
    /// something else on that path by now.
    var settledDatabaseURI: String {
        let address = immutableDatabaseURI
        let isOpen = starts(with: "/proc/self/fd") || isRelative && components.count == 1
        guard isOpen, let files = ship_store_literal_paths() else { return address }
        return address + "&vfs=" + String(cString: files)
    }
}

/// Limits on the time and the memory that SQLite may take on a connection. SQLite gives up at the limit, even inside one
/// statement.
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
