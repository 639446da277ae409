import StoreFormat

extension DeltaStore {
    /// The shape of an index, by its name; `nil` if its entries cannot follow from rows.
    func shape(of index: Int, among shapes: [String: IndexShape]) -> IndexShape? {
        let name = String(bytes: trees[index].name[...], textEncoding: settings.textEncoding)
        guard let shape = name.flatMap({ shapes[$0] }), settings.textEncoding <= 1 || shape.isBinary else { return nil }
        return shape
    }

    /// Whether the entries are exactly those that follow from the rows.
    func follows(_ index: Int, _ shape: IndexShape, from table: Int) throws -> Bool {
        try shape.follows(
            try TreeReader(pages, geometry, root: trees[index].root, kind: .index),
            from: try TreeReader(pages, geometry, root: trees[table].root, kind: try kind(of: table)), settings)
    }
}
