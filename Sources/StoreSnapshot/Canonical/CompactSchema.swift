import GRDB

/// What `VACUUM INTO` would write of a store's schema, found out without it: SQLite makes the same tables and indexes, without a
/// row, in an empty database in memory.
///
/// Source: vacuum.c, sqlite3RunVacuum.
enum CompactSchema {
    /// - Parameter database: Of the store, or of a copy of its pages.
    /// - Returns: The rowids of the rows of `sqlite_schema` in the order in which the compact copy has them; `nil` if it would
    ///   have other rows.
    /// - Throws: What SQLite throws where an app's own functions or collations are missing, as `VACUUM INTO` would.
    static func order(of database: Database, _ watch: ConnectionWatch) throws -> [Int64]? {
        let rows = try SchemaEntry.all(in: database)
        guard rows.count <= mostRows else { return nil }
        let queue = try DatabaseQueue(configuration: watch.configuration(for: .write))
        defer { try? queue.close() }
        let compact = try queue.unsafeRead { memory in
            // Tables of SQLite's own are made as well: those of ANALYZE.
            try memory.execute(sql: "PRAGMA writable_schema = ON")
            for row in rows where row.isTableToMake { try memory.execute(sql: row.sql ?? "") }
            for row in rows where row.isIndexToMake { try memory.execute(sql: row.sql ?? "") }
            return try SchemaEntry.all(in: memory)
        }
        var rowids: [SchemaEntry.Words: Int64] = [:]
        for row in rows where !row.isCopied {
            guard rowids.updateValue(row.rowid, forKey: row.words) == nil else { return nil }
        }
        let made = compact.compactMap { rowids.removeValue(forKey: $0.words) }
        guard made.count == compact.count, rowids.isEmpty else { return nil }
        return made + rows.filter(\.isCopied).map(\.rowid)
    }

    private static let mostRows = 20_000
}

/// A row of `sqlite_schema`.
private struct SchemaEntry {
    struct Words: Hashable {
        let type: String?
        let name: String?
        let tableName: String?
        let sql: String?
    }

    let rowid: Int64
    let words: Words
    private let root: DatabaseValue

    var sql: String? { words.sql }

    /// `VACUUM` runs its statement.
    var isTableToMake: Bool {
        words.type == "table" && words.name != "sqlite_sequence"
            && (root.isNull || (Int64.fromDatabaseValue(root) ?? 0) > 0)
    }

    var isIndexToMake: Bool { words.type == "index" && sql != nil }

    /// `VACUUM` copies it as it is: what has no tree.
    var isCopied: Bool {
        words.type == "view" || words.type == "trigger"
            || words.type == "table" && Int64.fromDatabaseValue(root) == 0
    }

    static func all(in database: Database) throws -> [SchemaEntry] {
        try Row.fetchAll(
            database, sql: "SELECT rowid, type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY rowid"
        )
        .map { row in
            let values = Array(row.databaseValues)
            let words = values[1...4].map { String.fromDatabaseValue($0) }
            return SchemaEntry(
                rowid: Int64.fromDatabaseValue(values[0]) ?? 0,
                words: Words(type: words[0], name: words[1], tableName: words[2], sql: words[3]), root: values[5])
        }
    }

    private init(rowid: Int64, words: Words, root: DatabaseValue) {
        self.rowid = rowid
        self.words = words
        self.root = root
    }
}
