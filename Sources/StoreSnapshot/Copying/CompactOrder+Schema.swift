import GRDB
import StoreFormat

extension CompactOrder {
    /// Finds out which schema `VACUUM INTO` would write, without running it: SQLite makes the same tables and indexes, without
    /// a row, in an empty database in memory.
    ///
    /// Source: vacuum.c, sqlite3RunVacuum.
    ///
    /// - Parameter database: Of the store, or of a copy of its pages.
    /// - Returns: `nil` if the compact copy would have other rows of `sqlite_schema`, or in an order that cannot be told.
    /// - Throws: What SQLite throws where an app's own functions or collations are missing, as `VACUUM INTO` would.
    init?(of database: Database, _ watch: ConnectionWatch) throws {
        let rows = try SchemaEntry.all(in: database)
        guard rows.count <= Self.mostRows else { return nil }
        let queue = try DatabaseQueue(configuration: watch.configuration(mayWrite: true))
        defer { try? queue.close() }
        let (compact, entries) = try queue.unsafeRead { memory in
            // SQLite's own tables are made as well: those of ANALYZE.
            try memory.execute(sql: "PRAGMA writable_schema = ON")
            for row in rows where row.isTableToMake { try memory.execute(sql: row.sql ?? "") }
            for row in rows where row.isIndexToMake { try memory.execute(sql: row.sql ?? "") }
            return (try SchemaEntry.all(in: memory), try Self.entryOrders(in: memory))
        }
        guard let entries else { return nil }
        var rowids: [[String?]: Int64] = [:]
        for row in rows where !row.isCopied {
            guard rowids.updateValue(row.rowid, forKey: row.words) == nil else { return nil }
        }
        let made = compact.compactMap { rowids.removeValue(forKey: $0.words) }
        guard made.count == compact.count, rowids.isEmpty else { return nil }
        self.init(schema: made + rows.filter(\.isCopied).map(\.rowid), entries: entries)
    }

    /// The orders of those trees in which `VACUUM INTO` seeks a place for each entry, by their names.
    ///
    /// - Returns: `nil` if an app defines the order of one of them.
    private static func entryOrders(in database: Database) throws -> [String: IndexOrder]? {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT t.name, l.name, l."unique", EXISTS (SELECT * FROM sqlite_schema i WHERE i.name = l.name),
                    x."key", x."desc", upper(x.coll)
                FROM sqlite_schema t, pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x
                WHERE t.type = 'table' ORDER BY l.name, x.seqno
                """)
        var parts: [String: [IndexShape.Part]] = [:]
        var sought: Set<String> = []
        for values in rows.map({ Array($0.databaseValues) }) {
            let hasRow = Bool.fromDatabaseValue(values[3]) ?? false
            guard let name = String.fromDatabaseValue(values[hasRow ? 1 : 0]),
                let isUnique = Bool.fromDatabaseValue(values[2]), let isKey = Bool.fromDatabaseValue(values[4]),
                let isDescending = Bool.fromDatabaseValue(values[5]),
                let collation = IndexShape.Collation(sqlName: String.fromDatabaseValue(values[6]) ?? "")
            else { return nil }
            if collation != .binary { sought.insert(name) }
            // The columns that tell two entries apart: in a unique index the key columns alone.
            guard isKey || !isUnique else { continue }
            parts[name, default: []].append(
                IndexShape.Part(0, collation, isDescending: isDescending))
        }
        return Dictionary(uniqueKeysWithValues: sought.map { ($0, IndexOrder(IndexShape(parts[$0] ?? []))) })
    }

    private static let mostRows = 20_000
}

/// A row of `sqlite_schema`.
private struct SchemaEntry {
    let rowid: Int64
    private let type: String?
    private let name: String?
    private let tableName: String?
    let sql: String?
    private let root: DatabaseValue

    /// What `VACUUM` writes as it was.
    var words: [String?] { [type, name, tableName, sql] }

    /// Whether `VACUUM` runs its statement to make a table.
    var isTableToMake: Bool {
        type == "table" && name != "sqlite_sequence"
            && (root.isNull || (Int64.fromDatabaseValue(root) ?? 0) > 0)
    }

    var isIndexToMake: Bool { type == "index" && sql != nil }

    /// Whether `VACUUM` copies the row itself, because it has no tree.
    var isCopied: Bool {
        type == "view" || type == "trigger"
            || type == "table" && Int64.fromDatabaseValue(root) == 0
    }

    static func all(in database: Database) throws -> [SchemaEntry] {
        try Row.fetchAll(
            database, sql: "SELECT rowid, type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY rowid"
        )
        .map { row in
            let values = Array(row.databaseValues)
            let words = values[1...4].map { String.fromDatabaseValue($0) }
            return SchemaEntry(
                rowid: Int64.fromDatabaseValue(values[0]) ?? 0, type: words[0], name: words[1], tableName: words[2],
                sql: words[3], root: values[5])
        }
    }
}
