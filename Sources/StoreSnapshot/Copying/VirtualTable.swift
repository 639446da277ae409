import CoreDataReading
import GRDB
import StoreFormat

/// A virtual table of a store whose tables are emptied: its module may keep what it lacks then in tables of its own.
struct VirtualTable: Sendable {
    let name: String
    /// Whether this SQLite has its module, and so says which tables are the module's.
    let isKnown: Bool
    /// The table or view whose rows a full-text index is of; `nil` for any other table.
    ///
    /// Source: sqlite.org/fts5.html section 4.4.2; sqlite.org/fts3.html section 6.2.2.
    let content: String?
    /// Whether it has boxes, each of which has the number of what is in it [sqlite.org/rtree.html].
    let isRTree: Bool

    static func all(in database: Database) throws -> [VirtualTable] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT name, sql FROM sqlite_schema
                WHERE type = 'table' AND rootpage = 0 AND typeof(name) = 'text' AND typeof(sql) = 'text'
                """)
        return rows.map { row in
            let (name, sql): (String, String) = (row[0], row[1])
            return VirtualTable(
                name: name, isKnown: (try? database.makeStatement(sql: "SELECT 1 FROM \(name.quotedSQLName)")) != nil,
                content: content(ofIndexDefinedBy: sql),
                isRTree: sql.firstMatch(of: /(?i)\busing\s+(?:rtree|rtree_i32|geopoly)\b/) != nil)
        }
    }

    private static func content(ofIndexDefinedBy sql: String) -> String? {
        guard sql.firstMatch(of: /(?i)\busing\s+fts[345]\b/) != nil else { return nil }
        let options = (StatementParts(sql)?.all ?? []).filter { $0.count > 2 && $0[1] == "=" }
        let name = options.last { $0[0].lowercased() == "content" }?[2] ?? ""
        return name.isEmpty ? nil : name
    }

    /// Whether the rows of a table may be those of this one, whose module SQLite does not have. Modules name their tables so
    /// [sqlite.org/vtab.html#xshadowname].
    func mayKeepRows(in table: String) -> Bool { !isKnown && table.lowercased().hasPrefix(name.lowercased() + "_") }

    func isNamed(in sql: String) -> Bool {
        let words = sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let own = name.lowercased()
        return own.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            ? words.contains { $0 == own } : sql.lowercased().contains(own)
    }
}
