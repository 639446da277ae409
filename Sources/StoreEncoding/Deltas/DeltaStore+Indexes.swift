import StoreFormat

extension DeltaStore {
    /// The shape of an index, by its name; `nil` if its entries cannot follow from rows.
    func shape(of index: Int, among shapes: [String: IndexShape]) -> IndexShape? {
        let name = String(bytes: trees[index].name[...], textEncoding: settings.textEncoding)
        guard let shape = name.flatMap({ shapes[$0] }), settings.textEncoding <= 1 || shape.isBinary else { return nil }
        return shape
    }

    /// Whether the entries are exactly those that follow from the rows, in the order in which a consumer would sort them.
    func follows(_ index: Int, _ shape: IndexShape, from table: Int) throws -> Bool {
        var expected = ExpectedEntries(shape)
        var reader = try TreeReader(pages, geometry, root: trees[table].root, kind: try kind(of: table))
        var indexed = IndexedRow()
        while let cell = try reader.next() {
            guard try indexed.read(cell, from: reader) else { return false }
            let (record, columns) = (indexed.record, indexed.columns)
            expected.add(record.span, columns, rowid: cell.rowid, settings.integers)
        }
        guard expected.isComplete else { return false }
        var entries = try rows(of: index)
        var row = DeltaRow()
        while try entries.next(&row) {
            guard !row.isLong, expected.take(row.record) else { return false }
        }
        return expected.areAllTaken
    }
}
