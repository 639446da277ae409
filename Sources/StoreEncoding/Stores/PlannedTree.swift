import StoreFormat

/// A tree of a store, as the store's schema lists it.
struct PlannedTree {
    let isTable: Bool
    let name: [UInt8]
    let root: UInt32
    /// Its place among all trees, in the order of the rows of `sqlite_schema`.
    let place: Int
    /// Of an index: the root of its table.
    let table: UInt32
    /// Of an index: its place among those of its table.
    let index: Int

    static let schema = PlannedTree(isTable: true, name: [], root: 1, place: 0, table: 0, index: 0)

    /// All trees but that of `sqlite_schema`, in the order in which they are sent.
    static func all(of schema: SchemaTrees) throws(StoreFlaw) -> [PlannedTree] {
        try schema.inOrder().flatMap { table, indexes in
            [PlannedTree(isTable: true, name: table.name, root: table.root, place: table.index, table: 0, index: 0)]
                + indexes.enumerated().map { place, index in
                    PlannedTree(
                        isTable: false, name: index.name, root: index.root, place: index.index, table: table.root,
                        index: place)
                }
        }
    }
}
