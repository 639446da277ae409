import GRDB
import GRDBSQLite
import StoreFormat

extension CompactOrder {
    /// Tells from the schema which rows of `sqlite_schema` the compact copy has, and in which order.
    ///
    /// The statements are not run once more, as `VACUUM INTO` runs them: what only an app defines is not needed then, a statement
    /// that SQLite reads but would not take again stays as it is, and the time grows with the number of tables, and not with its
    /// square, as it does where SQLite looks through the whole schema for each table that it makes [build.c, sqlite3EndTable].
    ///
    /// Source: `Protocol/CANONICAL.md` section 9; vacuum.c, sqlite3RunVacuum.
    ///
    /// - Parameter database: Of the store, or of a copy of its pages.
    /// - Returns: `nil` for a schema with rows of other kinds, or with orders that only an app defines.
    init?(of database: Database) throws {
        let rows = try SchemaRowWords.all(in: database)
        let implied = Dictionary(grouping: rows.filter(\.isImpliedIndex), by: \.tableName)
        let sequence = rows.first(where: \.isSequence)
        let counting = try sequence.flatMap { _ in try Self.firstCounting(among: rows, in: database) }
        var schema: [Int64] = []
        for row in rows where row.isTable && !row.isSequence {
            schema.append(row.rowid)
            schema += implied[row.name, default: []].map(\.rowid)
            if let sequence, row.rowid == counting { schema.append(sequence.rowid) }
        }
        // It has numbers that an app has put there, or is empty.
        if let sequence, counting == nil { schema.append(sequence.rowid) }
        schema += rows.filter(\.isIndex).map(\.rowid)
        schema += rows.filter(\.hasNoTree).map(\.rowid)
        guard schema.count == rows.count, let entries = try Self.entryOrders(rows, in: database) else { return nil }
        self.init(schema: schema, entries: entries)
    }

    /// The first table with AUTOINCREMENT.
    private static func firstCounting(among rows: [SchemaRowWords], in database: Database) throws -> Int64? {
        try rows.first { row in
            guard row.isTable, row.sql?.lowercased().contains("autoincrement") == true,
                let key = try String.fetchOne(
                    database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk = 1", arguments: [row.name])
            else { return false }
            var counts: CInt = 0
            return sqlite3_table_column_metadata(
                database.sqliteConnection, "main", row.name, key, nil, nil, nil, nil, &counts) == SQLITE_OK
                && counts == 1
        }?.rowid
    }

    /// The orders of those trees in which `VACUUM INTO` seeks a place for each entry, by their names.
    ///
    /// - Returns: `nil` if an app defines the order of one of them.
    private static func entryOrders(_ rows: [SchemaRowWords], in database: Database) throws -> [String: IndexOrder]? {
        // No collation but BINARY comes about without this word.
        let values = try IndexValue.all(
            in: database, ofTables: "t.name IN (SELECT tbl_name FROM sqlite_schema WHERE sql LIKE '%COLLATE%')")
        let indexes = Set(rows.lazy.filter { $0.isIndex || $0.isImpliedIndex }.map(\.name))
        var parts: [String: [IndexShape.Part]] = [:]
        var sought: Set<String> = []
        for value in values {
            guard let collation = value.collation else { return nil }
            // The index of a table WITHOUT ROWID is the table itself, and has no row.
            let name = indexes.contains(value.index) ? value.index : value.table
            if collation != .binary { sought.insert(name) }
            // The columns that tell two entries apart: in a unique index the key columns alone.
            guard value.isKey || !value.isUnique else { continue }
            parts[name, default: []].append(IndexShape.Part(0, collation, isDescending: value.isDescending))
        }
        return Dictionary(uniqueKeysWithValues: sought.map { ($0, IndexOrder(IndexShape(parts[$0] ?? []))) })
    }
}

/// A row of `sqlite_schema`.
private struct SchemaRowWords {
    let rowid: Int64
    private let type: String?
    let name: String
    let tableName: String
    let sql: String?
    private let root: Int64?

    /// Whether it is a table that has a tree.
    var isTable: Bool { type == "table" && (root ?? 0) > 0 }
    /// Whether it is the table of the highest rowids, which SQLite makes itself.
    var isSequence: Bool { isTable && name == "sqlite_sequence" }
    var isIndex: Bool { type == "index" && sql != nil }
    /// Whether it is the index of a constraint.
    var isImpliedIndex: Bool { type == "index" && sql == nil }
    /// Whether `VACUUM` copies the row itself.
    var hasNoTree: Bool { type == "view" || type == "trigger" || type == "table" && root == 0 }

    static func all(in database: Database) throws -> [SchemaRowWords] {
        try Row.fetchAll(
            database, sql: "SELECT rowid, type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY rowid"
        )
        .map { row in
            let values = Array(row.databaseValues)
            let words = values[1...4].map { String.fromDatabaseValue($0) }
            return SchemaRowWords(
                rowid: Int64.fromDatabaseValue(values[0]) ?? 0, type: words[0], name: words[1] ?? "",
                tableName: words[2] ?? "", sql: words[3], root: Int64.fromDatabaseValue(values[5]))
        }
    }
}
