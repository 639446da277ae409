import GRDB
import StoreFormat

/// A value of an index's entries, as SQLite says it.
///
/// Source: sqlite.org/pragma.html#pragma_index_list and #pragma_index_xinfo.
struct IndexValue {
    let table: String
    let index: String
    let isUnique: Bool
    let isOfPrimaryKey: Bool
    /// -1 for the rowid, and -2 for an expression.
    let column: Int
    let isDescending: Bool
    /// `nil` for a collation that is not SQLite's own.
    let collation: IndexShape.Collation?
    /// Whether it is in the index for itself, and not to find the row.
    let isKey: Bool

    /// Those of all tables that have a tree, index by index, in the order of the entries. It is one query, however many tables there are:
    /// a statement for each takes longer, and to find one in `pragma_table_list` SQLite looks at all [pragma.c, PragTyp_TABLE_LIST].
    ///
    /// - Parameter condition: On `sqlite_schema t`, in SQL.
    static func all(in database: Database, ofTables condition: String = "TRUE") throws -> [IndexValue] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT t.name, l.name, l."unique", l.origin, x.cid, x."desc", upper(x.coll), x."key"
                FROM sqlite_schema t, pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x
                WHERE t.type = 'table' AND t.rootpage <> 0 AND \(condition) ORDER BY t.rowid, l.seq, x.seqno
                """
        ).compactMap { row in
            let values = Array(row.databaseValues)
            guard let table = String.fromDatabaseValue(values[0]), let index = String.fromDatabaseValue(values[1])
            else {
                return nil
            }
            return IndexValue(
                table: table, index: index, isUnique: Bool.fromDatabaseValue(values[2]) ?? false,
                isOfPrimaryKey: String.fromDatabaseValue(values[3]) == "pk",
                column: Int.fromDatabaseValue(values[4]) ?? -2,
                isDescending: Bool.fromDatabaseValue(values[5]) ?? false,
                collation: IndexShape.Collation(sqlName: String.fromDatabaseValue(values[6]) ?? "BINARY"),
                isKey: Bool.fromDatabaseValue(values[7]) ?? false)
        }
    }
}
