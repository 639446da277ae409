import GRDB
import GRDBSQLite
public import ShipProtocol
package import SystemPackage

/// A question to a store that has to be answered with yes before the store becomes current: one statement that only reads. The
/// answer is yes if the first column of the first row is neither NULL nor 0.
public struct StoreProbe: Hashable, Sendable {
    public let sql: String

    /// Why a text is not a probe.
    public enum Flaw: Error, Hashable, Sendable {
        case empty
        case severalStatements
        /// It would change something.
        case writes
        /// It gives no rows, whatever the store.
        case givesNoRows
        /// A probe is given no values.
        case hasParameters
        /// SQLite's words about it.
        case syntax(ForeignText)
    }

    /// Checks the text without the store: whether its tables and columns exist shows when the store is asked.
    public init(_ sql: String) throws(Flaw) {
        self.sql = sql
        try Self.check(sql)
    }
}

extension [StoreProbe] {
    /// Asks a store that has passed its check, before it has readers.
    ///
    /// - Parameters:
    ///   - path: The store: it is opened read-only, immutable, and hardened.
    ///   - size: Of the file, in bytes.
    ///   - deadline: How long SQLite may take over one probe.
    package func ask(at path: FilePath, size: Int64, deadline: Duration = .seconds(60)) throws(FailedProbe) {
        for probe in self {
            if let reason = Self.failure(of: probe, path, size, deadline) {
                throw FailedProbe(probe: probe, reason: reason)
            }
        }
    }

    /// Each probe has a connection of its own: none sees what another one has set.
    private static func failure(
        of probe: StoreProbe, _ path: FilePath, _ size: Int64, _ deadline: Duration
    ) -> FailedProbe.Reason? {
        do {
            let queue = try DatabaseQueue(
                path: path.settledDatabaseURI,
                configuration: Configuration.hardened(trust: .checked, longestValue: size))
            return try queue.unsafeRead { database in
                try CheckDeadline.enforce(deadline, on: database) { try answer(to: probe, in: database) }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            return .tookTooLong(deadline)
        } catch let error as DatabaseError {
            return .failed(ForeignText(error.message ?? "error \(error.extendedResultCode.rawValue)"))
        } catch {
            return .failed("\(error)")
        }
    }

    private static func answer(to probe: StoreProbe, in database: Database) throws -> FailedProbe.Reason? {
        let statement = try database.makeStatement(sql: probe.sql)
        guard statement.isReadonly else { return .failed("it does not only read") }
        let rows = try Row.fetchCursor(statement)
        // A row is there for as long as its cursor stands on it.
        return try withExtendedLifetime(rows) {
            guard let row = try rows.next() else { return .noRow }
            let value: DatabaseValue = row[0]
            if value.isNull { return .isNull }
            // SQLite's own truth: a text counts as the number with which it begins (sqlite.org/lang_expr.html section 16).
            return sqlite3_column_double(statement.sqliteStatement, 0) == 0
                ? .isZero(ForeignText(value.description)) : nil
        }
    }
}

/// Whether a text can be a probe, as an empty database tells.
///
/// SQLite has one error code for what it cannot parse and for tables that are not there. A view tells them apart: its
/// statement is parsed when it is made, and its names are looked up only when it is used (sqlite.org/lang_createview.html).
extension StoreProbe {
    private static func check(_ sql: String) throws(Flaw) {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard !sql.utf8.contains(0) else { throw .syntax("a NUL in the text") }
        guard sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nil) == SQLITE_OK,
            let connection
        else { return }
        var flaw: Flaw?
        prepare(sql, connection) { statement, rest in flaw = firstFlaw(of: statement, rest, connection) }
        guard case .syntax(let words)? = flaw else {
            if let flaw { throw flaw }
            return
        }
        if parserErrors.contains(where: words.unescaped.contains) { throw .syntax(words) }
        var parsed: Flaw?
        prepare("CREATE TEMP VIEW probe AS \(sql)", connection) { statement, rest in
            parsed = firstFlaw(of: statement, rest, connection)
        }
        // It makes a view, and so writes: all that matters is that it parses, and that nothing comes after it.
        if parsed == .severalStatements { throw .severalStatements }
        // It is a statement, and no query.
        if case .syntax? = parsed { throw .writes }
    }

    /// Of what SQLite says: the other errors are of names [sqlite3 parse.y, tokenize.c].
    private static let parserErrors = ["syntax error", "incomplete input", "unrecognized token"]

    /// - Parameter body: Is given the statement, or `nil`, and what comes after it.
    private static func prepare(
        _ sql: String, _ connection: OpaquePointer, _ body: (OpaquePointer?, UnsafePointer<CChar>?) -> Void
    ) {
        sql.withCString { text in
            var statement: OpaquePointer?
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(connection, text, -1, &statement, &rest)
            defer { sqlite3_finalize(statement) }
            body(statement, code == SQLITE_OK ? rest : nil)
        }
    }

    private static func firstFlaw(
        of statement: OpaquePointer?, _ rest: UnsafePointer<CChar>?, _ connection: OpaquePointer
    ) -> Flaw? {
        guard let rest else { return .syntax(ForeignText(String(cString: sqlite3_errmsg(connection)))) }
        guard let statement else { return .empty }
        if !isEmpty(rest, connection) { return .severalStatements }
        if sqlite3_stmt_readonly(statement) == 0 { return .writes }
        if sqlite3_column_count(statement) == 0 { return .givesNoRows }
        return sqlite3_bind_parameter_count(statement) > 0 ? .hasParameters : nil
    }

    /// White space and comments are no statement.
    private static func isEmpty(_ text: UnsafePointer<CChar>, _ connection: OpaquePointer) -> Bool {
        var (next, rest): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (text, nil)
        while let current = next, current.pointee != 0 {
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v2(connection, current, -1, &statement, &rest)
            sqlite3_finalize(statement)
            guard code == SQLITE_OK, statement == nil else { return false }
            next = rest
        }
        return true
    }
}
