/// The order of rows and entries in a compact copy, where it may differ from that of the store.
package struct CompactOrder: Sendable {
    /// The rowids of the rows of `sqlite_schema`.
    package let schema: [Int64]
    /// The indexes and tables WITHOUT ROWID, by their names, whose entries `VACUUM INTO` sorts. It appends the entries of all others in
    /// the order of the store.
    ///
    /// Source: insert.c, xferOptimization: those with collations other than BINARY.
    package let entries: [String: IndexOrder]

    package init(schema: [Int64], entries: [String: IndexOrder]) {
        self.schema = schema
        self.entries = entries
    }
}
