/// The canonical form of a compact copy.
///
/// Source: `Protocol/CANONICAL.md`.
package enum CanonicalForm {
    /// Longest record, in bytes, that is held; longer ones go through piece by piece.
    package static let longestHeldRecord = 256 * 1024

    /// Reads a compact copy and writes its canonical form.
    ///
    /// - Throws: `StoreFlaw` if it has none; what `pages` and `sink` throw.
    package static func write(of pages: any PageSource, to sink: any PageSink) throws {
        try write(of: try StoreTrees(pages), to: sink) { _ in }
    }

    /// The same.
    ///
    /// - Parameters:
    ///   - copy: Of which nothing has been read.
    ///   - tell: Gets the rows of each tree but that of `sqlite_schema`, on their way.
    package static func write(
        of copy: StoreTrees, to sink: any PageSink, telling tell: (TreeRows) -> Void
    ) throws {
        try copy.checkCounts()
        let trees = try copy.schema()
        let writer = try StoreWriter(copy.settings, treeCount: trees.count, sink: sink)
        try writeSchema(of: copy, to: writer)
        for table in try trees.inOrder() {
            for tree in [table.tree] + table.indexes {
                var target: TreeWriter?
                try copy.read(tree, .canonical) { rows in
                    tell(rows)
                    if case .begin(_, let kind) = rows {
                        target = writer.tree(kind, root: writer.roots[tree.index])
                    } else {
                        try target?.take(rows)
                    }
                }
            }
        }
        try copy.checkThatAllIsUsed()
        try writer.finish()
    }

    private static func writeSchema(of copy: StoreTrees, to writer: StoreWriter) throws {
        var tree = writer.tree(.table, root: 1)
        var named = 0
        try copy.forEachSchemaRow { rowid, record in
            guard let row = SchemaRow(record) else { return }
            if row.root != 0 { named += 1 }
            let encoded = row.encoded(from: record, root: writer.roots[named], copy.settings.integers)
            try tree.append(encoded.span, rowid: rowid)
        }
        try tree.end()
    }
}
