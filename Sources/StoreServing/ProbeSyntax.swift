import GRDB
import GRDBSQLite
import ShipProtocol

/// Whether a text can be a probe, judged by an empty database.
///
/// SQLite has one error code for what it cannot parse and for tables that are not there. A view tells them apart: its
/// statement is parsed when it is made, and its names are looked up only when it is used (sqlite.org/lang_createview.html).
enum ProbeSyntax {
    static func check(_ sql: String) throws(StoreProbe.Flaw) {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard !sql.utf8.contains(0) else { throw .syntax("a NUL in the text") }
        guard sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nil) == SQLITE_OK,
            let connection
        else { return }
        var flaw: StoreProbe.Flaw?
        prepare(sql, connection) { statement, rest in flaw = judge(statement, rest, connection) }
        guard case .syntax = flaw else {
            if let flaw { throw flaw }
            return
        }
        var parsed: StoreProbe.Flaw?
        prepare("CREATE TEMP VIEW probe AS \(sql)", connection) { statement, rest in
            parsed = judge(statement, rest, connection)
        }
        // It makes a view, and so writes: all that matters is that it parses, and that nothing comes after it.
        if parsed == .severalStatements { throw .severalStatements }
        if let parsed, case .syntax = parsed { throw parsed }
    }

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

    private static func judge(
        _ statement: OpaquePointer?, _ rest: UnsafePointer<CChar>?, _ connection: OpaquePointer
    ) -> StoreProbe.Flaw? {
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
