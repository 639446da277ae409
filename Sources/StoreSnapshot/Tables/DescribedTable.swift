import GRDB
import GRDBSQLite
import ShipProtocol

/// A table as its rows are to be read: which values a row has, and in which order the rows come.
///
/// Source: `Protocol/README.md` section 4.8.
struct DescribedTable: Sendable {
    let name: String
    /// In the order of their declaration, without generated ones.
    let columns: [String]
    let hasGeneratedColumns: Bool
    let order: Order

    enum Order: Hashable, Sendable {
        /// By rowid, which SQL knows by this name.
        case rowid(String)
        /// By rowid, which columns have taken all names of.
        case namelessRowid
        /// By primary key, in a table WITHOUT ROWID.
        case primaryKey
    }

    /// The names that SQL has for the rowid, unless a column has them [sqlite.org/lang_createtable.html#rowid].
    private static let rowidNames = ["rowid", "_rowid_", "oid"]

    /// - Returns: `nil` if a manifest cannot tell of all of them: they are too many, or one has a name that is no label
    ///   or that cannot be said in SQL.
    static func all(in database: Database) throws -> [DescribedTable]? {
        let names = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master
                WHERE type = 'table' AND rootpage <> 0 AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
                """)
        guard names.count <= Limits.tables, Set(names).count == names.count,
            names.allSatisfy({ Label.isValid(ForeignText($0)) && isWhole($0) })
        else { return nil }
        let withoutRowid = try Set(
            String.fetchAll(database, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND wr"))
        var tables: [DescribedTable] = []
        for name in names {
            let all = try Row.fetchAll(
                database, sql: "SELECT name, hidden FROM pragma_table_xinfo(?) ORDER BY cid", arguments: [name])
            let columns = all.filter { $0["hidden"] == 0 }.map { $0["name"] as String }
            guard columns.allSatisfy(isWhole),
                columns.count < Int(sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_COLUMN, -1))
            else { return nil }
            let taken = Set(columns.map { $0.lowercased() })
            let order: Order =
                if withoutRowid.contains(name) {
                    .primaryKey
                } else if let rowid = rowidNames.first(where: { !taken.contains($0) }) {
                    .rowid(rowid)
                } else {
                    .namelessRowid
                }
            tables.append(
                DescribedTable(
                    name: name, columns: columns, hasGeneratedColumns: all.count > columns.count, order: order))
        }
        return tables
    }

    /// Whether a name has come without damage: what is not valid UTF-8 is replaced on the way, and then names nothing.
    private static func isWhole(_ name: String) -> Bool { !name.unicodeScalars.contains("\u{FFFD}") }

    /// Selects all rows. Without an index SQLite reads the table's own b-tree from its start.
    ///
    /// - Parameter isContinued: Whether to begin after the rowid that is the statement's argument.
    func query(isContinued: Bool = false) -> String {
        let quoted = columns.map(\.quotedDatabaseIdentifier)
        let table = name.quotedDatabaseIdentifier
        guard case .rowid(let rowid) = order else {
            return "SELECT \(quoted.joined(separator: ", ")) FROM \(table) NOT INDEXED"
        }
        let condition = isContinued ? " WHERE \(rowid) > ?" : ""
        return
            "SELECT \(([rowid] + quoted).joined(separator: ", ")) FROM \(table) NOT INDEXED\(condition) ORDER BY \(rowid)"
    }
}
