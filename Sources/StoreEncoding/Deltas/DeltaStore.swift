import StoreFormat

/// A canonical copy as one side of a delta: its trees and their rows.
final class DeltaStore {
    let pages: any PageSource
    let settings: StoreSettings
    let geometry: PageGeometry
    private let maps = PlaceMaps()
    /// By their places; at 0 that of `sqlite_schema`.
    private(set) var trees: [PlannedTree] = []
    /// The places of the tables, in order, without `sqlite_schema`, and those of the indexes of each, in their order.
    private(set) var tables: [(place: Int, indexes: [Int])] = []
    /// The tables as the schema names them.
    let named: [SchemaTrees.Tree]
    /// The places of the trees, by their names.
    private var places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int]) = ([:], [:])

    /// - Throws: `StoreFlaw` for what has no canonical form, and what `pages` throws.
    init(_ pages: any PageSource) throws {
        self.pages = pages
        settings = try StoreSettings(decoding: try pages.header)
        geometry = PageGeometry(settings)
        var schema = SchemaTrees(textEncoding: settings.textEncoding)
        var rows = 0
        try StoreTrees.forEachSchemaRow(of: pages, geometry, use: nil) { _, record in
            guard record.count <= CanonicalForm.longestHeldRecord else { throw StoreFlaw.schemaRow(rows) }
            try schema.add(record)
            rows += 1
        }
        named = schema.tables
        trees = Array(repeating: .schema, count: schema.count + 1)
        for tree in try PlannedTree.all(of: schema) {
            trees[tree.place] = tree
            if tree.isTable {
                tables.append((tree.place, []))
                places.tables[tree.name] = tree.place
            } else {
                tables[tables.count - 1].indexes.append(tree.place)
                places.indexes[tree.name] = tree.place
            }
        }
    }

    /// The places of the trees, by their names in the text encoding of another store.
    func places(like form: StoreSettings) -> (tables: [[UInt8]: Int], indexes: [[UInt8]: Int]) {
        let form = RecordForm(from: settings, to: form, isSchema: false)
        func named(_ places: [[UInt8]: Int]) -> [[UInt8]: Int] {
            Dictionary(places.map { (form.name($0.key), $0.value) }) { _, last in last }
        }
        return (named(places.tables), named(places.indexes))
    }

    func kind(of tree: Int) throws -> TreeKind { try TreeReader.kind(of: trees[tree].root, in: pages, geometry) }

    /// Whether another store encodes records differently.
    func hasOtherForm(than other: DeltaStore) -> Bool {
        settings.integers != other.settings.integers
            || max(1, settings.textEncoding) != max(1, other.settings.textEncoding)
    }

    /// Most rows that a tree can have: each takes at least 6 bytes.
    var mostRows: Int { Int(pages.pageCount) * geometry.pageSize / 6 }

    /// - Parameters:
    ///   - form: Settings of the store that the records are converted for; `nil` for this store.
    ///   - columns: See `TreeHead.columns`.
    func rows(of tree: Int, like form: StoreSettings? = nil, columns: [Int?]? = nil) throws -> DeltaRows {
        var record = RecordForm(from: settings, to: form ?? settings, isSchema: tree == 0)
        record.columns = columns
        return DeltaRows(try RowCursor(pages, geometry, root: trees[tree].root, sharing: maps), record)
    }
}
