import CSQLiteHardening
package import GRDB
import GRDBSQLite
import StoreFormat

/// How a store that came from elsewhere is opened to be read: read-only, immutable, and with its schema distrusted.
///
/// Source: sqlite.org/security.html section 1, sqlite.org/c3ref/open.html on `immutable`.
extension Configuration {
    /// - Parameter longestValue: The longest text, blob or row that SQLite may build, in bytes. No honest one is longer
    ///   than its file.
    package static func hardened(trust: StoreTrust, longestValue: Int64) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "ship-store"
        configuration.foreignKeysEnabled = false
        // A read that is interrupted, as the app is suspended, may leave a transaction; then its connection is closed. Otherwise GRDB would
        // end the process.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            guard let connection = database.sqliteConnection else { return }
            trust.harden(connection, longestValue: longestValue)
            let checksCells = trust == .checked ? "OFF" : "ON"
            try database.execute(sql: "PRAGMA cell_size_check = \(checksCells); PRAGMA mmap_size = 0")
        }
        return configuration
    }

    /// Lets the app prepare the connection. No store from elsewhere calls functions of the app, also where its schema has to be trusted.
    mutating func prepare(_ preparing: @escaping OpenStore.Preparation) {
        prepareDatabase { database in
            guard StoreTrust.distrustsJSON else { return try preparing(database) }
            let functions = { try Row.fetchAll(database, sql: "PRAGMA function_list").count }
            let before = try functions()
            try preparing(database)
            guard try functions() != before || before == 0, let connection = database.sqliteConnection else { return }
            _ = ship_store_set_db_config(connection, CInt(SQLITE_DBCONFIG_TRUSTED_SCHEMA), 0)
        }
    }
}

extension DatabaseHeader {
    /// Reads the header through the connection's own file handle: a descriptor of ours, on closing, would drop the locks
    /// that an app in this process holds on the file [sqlite.org/howtocorrupt.html section 2.2].
    ///
    /// - Throws: `DatabaseError`; a header that is none is `nil`, and SQLite's to complain of.
    init?(of database: Database) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let result = read(file, &bytes, CInt(bytes.count), 0)
        guard result == SQLITE_OK, let header = try? DatabaseHeader(decoding: bytes) else { return nil }
        self = header
    }
}
