/// The name by which SQL asks for the rowid of a table.
///
/// Source: sqlite.org/lang_createtable.html#rowid: a column of one of the three names has it for itself.
package enum RowidName {
    /// - Parameter columns: Of the table.
    /// - Returns: `nil` if columns have all three.
    package static func free(beside columns: some Sequence<String>) -> String? {
        let taken = Set(columns.map { $0.lowercased() })
        return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    }
}
