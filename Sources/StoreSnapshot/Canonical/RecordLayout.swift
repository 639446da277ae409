import GRDB
import StoreFiles
package import SystemPackage

/// Where the values of a table's columns are in its records, as SQLite says it.
///
/// Source: sqlite.org/pragma.html#pragma_table_xinfo; sqlite.org/fileformat2.html section 2.4 for the order of values in a
/// record.
package struct RecordLayout: Sendable {
    /// By the column's number. Generated columns that are not stored are not there.
    private(set) var places: [Int: Int] = [:]
    /// The column that is another name for the rowid.
    private(set) var rowidAlias: Int?
    private var names: [Int: String] = [:]

    /// Of all tables of a file that nobody changes, `sqlite_schema` among them.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: RecordLayout] {
        let watch = ConnectionWatch(interruption: Interruption(), busyTimeout: .zero)
        let connection = try WatchedConnection(
            address: DatabaseURI.immutable(path), to: .read, of: path, watch: watch)
        return try connection.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage <> 0")
            return try Dictionary((tables + ["sqlite_schema"]).map { ($0, try RecordLayout(of: $0, in: database)) }) {
                first, _ in first
            }
        }
    }

    init(of table: String, in database: Database) throws {
        let key = try Self.primaryKey(of: table, in: database)
        let isWithoutRowid = try Self.isWithoutRowid(table, in: database)
        if isWithoutRowid, let key {
            // The tree's own order: the key, then all others.
            for part in try IndexPart.all(of: key, in: database) where part.column >= 0 {
                places[part.column] = part.place
            }
        }
        let columns = try Row.fetchAll(
            database, sql: "SELECT cid, pk, hidden, upper(type), name FROM pragma_table_xinfo(?) ORDER BY cid",
            arguments: [table])
        var keys: [(column: Int, type: String)] = []
        for column in columns.map({ Array($0.databaseValues) }) {
            guard let number = Int.fromDatabaseValue(column[0]), let hidden = Int.fromDatabaseValue(column[2]) else {
                continue
            }
            names[number] = String.fromDatabaseValue(column[4])
            // 2: generated, and not stored.
            if !isWithoutRowid, hidden != 2 { places[number] = places.count }
            if Int.fromDatabaseValue(column[1]) != 0 {
                keys.append((number, String.fromDatabaseValue(column[3]) ?? ""))
            }
        }
        // INTEGER PRIMARY KEY, unless it has an index of its own [sqlite.org/lang_createtable.html#rowid].
        if keys.count == 1, keys[0].type == "INTEGER", key == nil { rowidAlias = keys[0].column }
    }

    private static func isWithoutRowid(_ name: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name])
            ?? false
    }

    private static func primaryKey(of name: String, in database: Database) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", arguments: [name])
    }

    /// The column that is another name for the rowid.
    package var rowidColumn: String? { rowidAlias.flatMap { names[$0] } }

    /// The column that is the value of that number in a record, from 0.
    package func column(at place: Int) -> String? {
        places.first { $0.value == place }.flatMap { names[$0.key] }
    }
}
