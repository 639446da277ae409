import GRDB
import StoreFormat

/// What `VACUUM INTO` would write of a store's schema, found out without it: SQLite makes the same tables and indexes, without a
/// row, in an empty database in memory.
///
/// Source: vacuum.c, sqlite3RunVacuum.
enum CompactSchema {
    /// - Parameter database: Of the store, or of a copy of its pages.
    /// - Returns: `nil` if the compact copy would have other rows of `sqlite_schema`, or in an order that cannot be told.
    /// - Throws: What SQLite throws where an app's own functions or collations are missing, as `VACUUM INTO` would.
    static func order(of database: Database, _ watch: ConnectionWatch) throws -> CompactOrder? {
        let rows = try SchemaEntry.all(in: database)
        guard rows.count <= mostRows else { return nil }
        let queue = try DatabaseQueue(configuration: watch.configuration(for: .write))
        defer { try? queue.close() }
        let (compact, entries) = try queue.unsafeRead { memory in
            // Tables of SQLite's own are made as well: those of ANALYZE.
            try memory.execute(sql: "PRAGMA writable_schema = ON")
            for row in rows where row.isTableToMake { try memory.execute(sql: row.sql ?? "") }
            for row in rows where row.isIndexToMake { try memory.execute(sql: row.sql ?? "") }
            return (try SchemaEntry.all(in: memory), try entryOrders(in: memory))
        }
        guard let entries else { return nil }
        var rowids: [SchemaEntry.Words: Int64] = [:]
        for row in rows where !row.isCopied {
            guard rowids.updateValue(row.rowid, forKey: row.words) == nil else { return nil }
        }
        let made = compact.compactMap { rowids.removeValue(forKey: $0.words) }
        guard made.count == compact.count, rowids.isEmpty else { return nil }
        return CompactOrder(schema: made + rows.filter(\.isCopied).map(\.rowid), entries: entries)
    }

    /// The orders of the trees of which `VACUUM INTO` looks for each entry's place, by their names; `nil` if one of them is in an
    /// order of the app's own.
    private static func entryOrders(in database: Database) throws -> [String: IndexOrder]? {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT t.name, l.name, l."unique", EXISTS (SELECT * FROM sqlite_schema i WHERE i.name = l.name),
                    x."key", x."desc", upper(x.coll)
                FROM sqlite_schema t, pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x
                WHERE t.type = 'table' ORDER BY l.name, x.seqno
                """)
        struct Tree {
            var parts: [IndexShape.Part] = []
            var isSought = false
        }
        var trees: [String: Tree] = [:]
        let collations: [String: IndexShape.Collation] = ["BINARY": .binary, "NOCASE": .noCase, "RTRIM": .rightTrim]
        for values in rows.map({ Array($0.databaseValues) }) {
            let hasRow = Bool.fromDatabaseValue(values[3]) ?? false
            guard let name = String.fromDatabaseValue(values[hasRow ? 1 : 0]),
                let isUnique = Bool.fromDatabaseValue(values[2]), let isKey = Bool.fromDatabaseValue(values[4]),
                let isDescending = Bool.fromDatabaseValue(values[5]),
                let collation = collations[String.fromDatabaseValue(values[6]) ?? ""]
            else { return nil }
            if collation != .binary { trees[name, default: Tree()].isSought = true }
            // What tells two entries apart: of a unique one those columns alone.
            guard isKey || !isUnique else { continue }
            trees[name, default: Tree()].parts.append(
                IndexShape.Part(.value(0), collation, isDescending ? .descending : .ascending))
        }
        return trees.filter(\.value.isSought).mapValues { IndexOrder(IndexShape($0.parts)) }
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
