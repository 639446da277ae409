import CSQLiteHardening
import GRDBSQLite
import ShipProtocol
import StoreFiles
import SystemPackage

/// A connection through which SQLite checks a store that is not trusted: hardened, and with a deadline, before SQLite reads a byte of it.
///
/// GRDB's connections will not do: they read the schema when they open, and decode names that may be no text.
final class CheckConnection {
    /// Longest message of SQLite's that is handed on, in bytes: it contains names from the store.
    private static let longestWords = 512

    private let connection: OpaquePointer
    private let path: FilePath
    /// In a process with other work, one row or value may take twice this fraction of the memory.
    private static let shareOfValue: Int64 = 16

    private let deadline: CheckDeadline
    private let limits: CheckLimits
    /// Whether the limit on a value's length is below the size of the file.
    private let isShort: Bool

    /// - Throws: `.unreadable`.
    init(_ path: FilePath, size: Int64, _ limits: CheckLimits, inOwnProcess: Bool) throws(StoreCheck.Flaw) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path.settledDatabaseURI, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw .unreadable(code: code, message: ForeignText(String(cString: sqlite3_errstr(code))))
        }
        connection = opened
        self.path = path
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
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR:
            if let refusal { throw refusal }
            fallthrough
        default:
            throw .unreadable(
                code: code, message: Self.words(sqlite3_errmsg(connection).map { String(cString: $0) } ?? ""))
        }
    }

    /// The system's words where it did not let SQLite read a page, which looks damaged then; `nil` if it let it read all.
    var refusal: StoreCheck.Flaw? {
        let refusal = ship_store_last_refusal(connection)
        return refusal == 0 ? nil : .file(FileError(.read, path, Errno(rawValue: refusal)))
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
    /// Names in a folder that is open, or in that in which this process runs, are taken as they are (`OpenFolder.pathByDescriptor`,
    /// `CheckerProcess`): SQLite would resolve the path from the root, and others may have put something else on that path by now.
    var settledDatabaseURI: String {
        let address = immutableDatabaseURI
        let isOpen = starts(with: "/proc/self/fd") || isRelative && components.count == 1
        guard isOpen, let files = ship_store_literal_paths() else { return address }
        return address + "&vfs=" + String(cString: files)
    }
}
