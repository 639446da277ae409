import CSQLiteHardening
package import GRDB
import GRDBSQLite

/// How a store that came from elsewhere is opened: read-only, immutable, and with its schema distrusted.
///
/// Source: sqlite.org/security.html section 1, sqlite.org/c3ref/open.html on `immutable`.
package enum HardenedConfiguration {
    /// What the store's schema may do.
    package enum Trust: Hashable, Sendable {
        /// Nothing: it has not been checked yet. Views and triggers are off, and each page is looked at before it is used.
        case unchecked
        /// Its reader vouches for it: views work, and each page is looked at before it is used.
        case vouchedFor
        /// It passed its check when it was installed, which looked at every page: views work, and reads cost what they cost
        /// elsewhere.
        case checked
    }

    /// Deepest expression; SQLite's own limit is 1,000.
    private static let expressionDepth: CInt = 500

    /// - Parameter longestValue: The longest text, blob or row that SQLite may build, in bytes. No honest one is longer
    ///   than its file.
    package static func make(trust: Trust, longestValue: Int64) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "ship-store"
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            guard let connection = database.sqliteConnection else { return }
            for (option, isOn) in [
                (SQLITE_DBCONFIG_DEFENSIVE, true), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
                (SQLITE_DBCONFIG_ENABLE_TRIGGER, false), (SQLITE_DBCONFIG_ENABLE_VIEW, trust != .unchecked),
                (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
            ] {
                _ = ship_store_set_db_config(connection, CInt(option), isOn ? 1 : 0)
            }
            let length = CInt(clamping: max(longestValue, 1_000_000))
            for (limit, value) in [
                (SQLITE_LIMIT_LENGTH, length), (SQLITE_LIMIT_EXPR_DEPTH, expressionDepth),
                (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_WORKER_THREADS, 0),
            ] {
                sqlite3_limit(connection, limit, value)
            }
            let checksCells = trust == .checked ? "OFF" : "ON"
            try database.execute(sql: "PRAGMA cell_size_check = \(checksCells); PRAGMA mmap_size = 0")
        }
        return configuration
    }
}
