import GRDBSQLite
import ShipProtocol
import StoreFiles
import SystemPackage

extension HandmadeShipment {
    /// The digest of the schema as the consumer will find it, with SQLite left as it is; of nothing where it takes long.
    static func schemaDigest(of store: FilePath) -> ContentDigest {
        var connection: OpaquePointer?
        sqlite3_open_v2(store.immutableDatabaseURI, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
        defer { sqlite3_close_v2(connection) }
        // After some seconds it will do: nobody gets as far as to compare it.
        sqlite3_progress_handler(connection, 20_000_000, { _ in 1 }, nil)
        var statement: OpaquePointer?
        sqlite3_prepare_v2(connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema", -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        var entries: [SchemaEntry] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let texts = (0..<4).map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "" }
            entries.append(.init(type: texts[0], name: texts[1], tableName: texts[2], sql: texts[3]))
        }
        return ContentDigest(hashing: SchemaEntry.listing(of: entries))
    }
}
