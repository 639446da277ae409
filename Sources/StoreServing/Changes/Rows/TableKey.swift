import CoreDataReading
import GRDB
import StoreFormat

/// The columns that tell the rows of a table from each other, as SQLite says it.
///
/// Source: sqlite.org/pragma.html#pragma_index_list, #pragma_index_xinfo and #pragma_table_xinfo; sqlite.org/withoutrowid.html.
struct TableKey {
    let columns: [String]
    /// Of a table WITHOUT ROWID: the order of its records, which begin with the key. `nil` where the rowid is the key.
    let order: IndexOrder?
    /// The place of `Z_ENT` in the records of a table whose key is `Z_PK`.
    let entityPlace: Int?

    /// - Parameter kind: Of the table's tree.
    /// - Returns: `nil` for a table WITHOUT ROWID whose order this program does not know, and for one whose columns have all names of
    ///   its rowid.
    init?(of table: String, _ kind: TreeKind, textEncoding: UInt32, in database: Database) throws {
        let name = table.quotedSQLName
        let ownIndex = try Row.fetchAll(database, sql: "PRAGMA index_list(\(name))")
            .first { String.fromDatabaseValue($0["origin"]) == "pk" }
            .flatMap { String.fromDatabaseValue($0["name"]) }
        guard kind == .index else {
            order = nil
            let columns = try Row.fetchAll(database, sql: "PRAGMA table_xinfo(\(name))").compactMap(Column.init)
            let key = columns.filter(\.isKey)
            // A primary key of one column that has no index is the rowid.
            if ownIndex == nil, key.count == 1 {
                self.columns = key.map(\.name)
            } else {
                guard let rowid = RowidName.free(beside: columns.map(\.name)) else { return nil }
                self.columns = [rowid]
            }
            entityPlace =
                self.columns == ["Z_PK"] ? columns.filter(\.isStored).firstIndex { $0.name == "Z_ENT" } : nil
            return
        }
        guard let ownIndex else { return nil }
        let values = try Row.fetchAll(database, sql: "PRAGMA index_xinfo(\(ownIndex.quotedSQLName))")
            .filter { Bool.fromDatabaseValue($0["key"]) == true }
        var (columns, parts): ([String], [IndexShape.Part]) = ([], [])
        for (place, value) in values.enumerated() {
            guard let column = String.fromDatabaseValue(value["name"]),
                let collation = String.fromDatabaseValue(value["coll"]).flatMap({
                    IndexShape.Collation(sqlName: $0.uppercased())
                })
            else { return nil }
            columns.append(column)
            parts.append(.init(place, collation, isDescending: Bool.fromDatabaseValue(value["desc"]) ?? false))
        }
        let shape = IndexShape(parts)
        // SQLite compares texts with other collations than BINARY in UTF-8.
        guard !parts.isEmpty, textEncoding <= 1 || shape.isBinary else { return nil }
        (self.columns, order, entityPlace) = (columns, IndexOrder(shape), nil)
    }

    private struct Column {
        let name: String
        let isKey: Bool
        /// Whether records have it: a virtual column is computed.
        let isStored: Bool

        init?(_ row: Row) {
            guard let name = String.fromDatabaseValue(row["name"]) else { return nil }
            self.name = name
            isKey = Int.fromDatabaseValue(row["pk"]).map { $0 > 0 } ?? false
            isStored = Int.fromDatabaseValue(row["hidden"]) != 2
        }
    }
}
