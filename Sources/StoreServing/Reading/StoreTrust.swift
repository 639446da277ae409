import CSQLiteHardening
import GRDBSQLite

/// How far a store that came from elsewhere is trusted, and with it what its schema may do. A connection to it is restricted
/// accordingly, before anything is read through it.
///
/// Source: sqlite.org/security.html section 1, sqlite.org/limits.html, sqlite.org/c3ref/c_dbconfig_defensive.html.
package enum StoreTrust: Hashable, Sendable {
    /// Nothing: it has not been checked yet. Views and triggers are off, and each page is looked at before it is used.
    case unchecked
    /// Its reader trusts it: views work, and each page is looked at before it is used.
    case vouchedFor
    /// It passed its check when it was installed, which looked at every page: views work, and reads cost what they cost elsewhere.
    case checked

    /// Readers' own queries build values too, however small the store is.
    private static let leastLengthForReaders: Int64 = 1_000_000
    /// SQLite's checks build messages of some hundred bytes, and its full-text search statements of some thousand.
    private static let leastLengthForChecks: Int64 = 65_536

    /// Whether this SQLite lets a schema that it does not trust call none of its own JSON functions, as 3.40.1 does by mistake.
    static let distrustsJSON: Bool = {
        var opened: OpaquePointer?
        defer { sqlite3_close_v2(opened) }
        guard sqlite3_open(":memory:", &opened) == SQLITE_OK, let opened else { return false }
        _ = ship_store_set_db_config(opened, CInt(SQLITE_DBCONFIG_TRUSTED_SCHEMA), 0)
        return sqlite3_exec(opened, "SELECT json(1)", nil, nil, nil) == SQLITE_OK
            && sqlite3_exec(opened, "CREATE TABLE t(a, b AS (json(a)))", nil, nil, nil) != SQLITE_OK
    }()

    /// - Parameter longestValue: The longest text, blob or row of the store, in bytes; `hex()` in an index makes twice as much of it.
    func harden(_ connection: OpaquePointer, longestValue: Int64) {
        for (option, isOn) in [
            (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, Self.distrustsJSON),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, false), (SQLITE_DBCONFIG_ENABLE_VIEW, self != .unchecked),
            (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
        ] {
            _ = ship_store_set_db_config(connection, CInt(option), isOn ? 1 : 0)
        }
        for (limit, value) in limits(2 * min(longestValue, Int64(CInt.max))) { sqlite3_limit(connection, limit, value) }
    }

    /// Those of columns (2,000), terms of a compound select (500), arguments (127) and levels of an expression (1,000) are SQLite's own:
    /// schemas that are read elsewhere must be read here.
    private func limits(_ longestValue: Int64) -> [(CInt, CInt)] {
        let forAll: [(CInt, CInt)] = [
            (SQLITE_LIMIT_EXPR_DEPTH, 1000), (SQLITE_LIMIT_ATTACHED, 0),
            (SQLITE_LIMIT_WORKER_THREADS, 0),
        ]
        guard self == .unchecked else {
            return forAll + [(SQLITE_LIMIT_LENGTH, CInt(clamping: max(longestValue, Self.leastLengthForReaders)))]
        }
        return forAll + [
            (SQLITE_LIMIT_LENGTH, CInt(clamping: max(longestValue, Self.leastLengthForChecks))),
            // A statement of a schema is a value of the store.
            (SQLITE_LIMIT_SQL_LENGTH, CInt(clamping: max(longestValue, Self.leastLengthForReaders))),
            (SQLITE_LIMIT_COLUMN, 2000), (SQLITE_LIMIT_COMPOUND_SELECT, 500), (SQLITE_LIMIT_FUNCTION_ARG, 127),
            // A check is one program for all tables: 24 bytes each.
            (SQLITE_LIMIT_VDBE_OP, 5_000_000),
            (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000), (SQLITE_LIMIT_VARIABLE_NUMBER, 1000),
            (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        ]
    }
}
