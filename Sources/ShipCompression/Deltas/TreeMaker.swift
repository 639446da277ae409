import StoreFormat

/// The trees of a result, made from those of the base and what a delta says, one after the other.
///
/// Source: `Protocol/DELTA.md` sections 2, 4 and 6.
final class TreeMaker {
    /// Bytes of entries that all merged indexes of a table hold in memory together, about.
    private static let mergeSize = 4 << 20

    let base: DeltaStore
    let settings: StoreSettings
    let writer: StoreWriter
    private let target: any StoreBuilder.Target
    private let mostPages: UInt32
    private let places: [DeltaStore.TreeName: Int]
    /// The trees of the result in their order; only the first is known at first.
    private var plan = [PlannedTree(isTable: true, name: [], root: 1, table: 0, index: 0)]
    var next = 0
    private var derivedOfTable = 0
    var schema: SchemaTrees?
    var schemaRows = SchemaRows()
    var open: OpenTree?
    /// Of the table at hand, or the last one.
    var merged: [MergedIndex] = []
    var long: LongRowMaker?

    private struct PlannedTree {
        let isTable: Bool
        let name: [UInt8]
        let root: UInt32
        /// Of an index: the root of its table.
        let table: UInt32
        /// Of an index: its place among those of its table.
        let index: Int
    }

    struct OpenTree: ~Copyable {
        var tree: TreeWriter
        let kind: TreeKind
        let head: TreeHead
        var base: DeltaRows?
        /// Whether merged indexes follow from it.
        let isIndexed: Bool
        /// What rowids of the base are to be raised by.
        var shift: Int64 = 0
        var lastRowid: Int64 = 0
        /// What the next row's rowid is to be raised by, once.
        var pending: Int64 = 0
    }

    /// A long row of which the record comes in pieces.
    struct LongRowMaker {
        let source: any ByteSource
        var left: Int64
        var end: Int64 = 0
        var check = RecordCheck()
    }

    init(
        _ base: DeltaStore, _ settings: StoreSettings, treeCount: Int, mostPages: UInt32,
        to target: any StoreBuilder.Target
    ) throws {
        self.base = base
        self.settings = settings
        self.target = target
        self.mostPages = mostPages
        writer = try StoreWriter(settings, treeCount: treeCount, mostPages: mostPages, sink: target)
        schema = SchemaTrees(textEncoding: settings.textEncoding)
        places = base.places(like: settings)
    }

    // MARK: Items

    func takeItem(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        guard let tag = DeltaTag(rawValue: try source.control.varint()) else { throw CompressionError.damaged(.rows) }
        guard long == nil || tag == .piece, open == nil || tag == .part || long != nil else {
            throw CompressionError.damaged(.rows)
        }
        switch tag {
        case .same:
            let count = try source.control.count(limit: SchemaTrees.most)
            for _ in 0...count { try copyTree() }
        case .part: try takePart(&source, &room)
        case .derived: try derive(try IndexShape(from: &source))
        case .merged: try merge()
        case .piece: try takePiece(&source, &room)
        }
    }

    /// What no item was said of stays as it is in the base.
    func finish() throws {
        guard open == nil, long == nil else { throw CompressionError.damaged(.rows) }
        while next < plan.count { try copyTree() }
        try writer.finish()
        guard writer.pageCount == mostPages else { throw CompressionError.damaged(.rows) }
    }

    private func planned() throws -> PlannedTree {
        guard next < plan.count else { throw CompressionError.damaged(.rows) }
        return plan[next]
    }

    /// - Returns: The place in the base of the tree that comes next.
    private func place(of head: TreeHead.Base, _ planned: PlannedTree) throws -> Int? {
        switch head {
        case .named:
            guard next > 0 else { return 0 }
            guard let place = places[DeltaStore.TreeName(isTable: planned.isTable, name: planned.name)] else {
                throw CompressionError.damaged(.base)
            }
            return place
        case .at(let place):
            guard place < base.trees.count, next > 0 else { throw CompressionError.damaged(.base) }
            return place
        case .none: return nil
        }
    }

    func begin(_ head: TreeHead) throws {
        let planned = try planned()
        let rows = try place(of: head.base, planned).map { try base.rows(of: $0, like: settings) }
        var kind = rows?.kind ?? .table
        if case .none(let said) = head.base { kind = said }
        // A table WITHOUT ROWID is a tree of entries; an index is never one of rows.
        guard planned.isTable || kind == .index, next > 0 || kind == .table else {
            throw CompressionError.damaged(.rows)
        }
        if planned.isTable {
            derivedOfTable = 0
            merged = []
        }
        let isBinary = head.merged.allSatisfy { $0.shape.isBinary }
        guard head.merged.isEmpty || planned.isTable && next > 0 && (settings.textEncoding <= 1 || isBinary) else {
            throw CompressionError.damaged(.rows)
        }
        let runSize = max(65_536, Self.mergeSize / max(1, head.merged.count))
        for (index, shape) in head.merged {
            merged.append(
                MergedIndex(index, shape, settings.integers, runSize: runSize) { [target] in
                    try target.makeSpillFile()
                })
        }
        open = OpenTree(
            tree: writer.tree(kind, root: planned.root), kind: kind, head: head, base: rows,
            isIndexed: !head.merged.isEmpty)
    }

    func end(_ tree: consuming OpenTree) throws {
        try tree.tree.end()
        next += 1
        if next == 1 { try planTrees() }
    }

    /// The schema has come: which trees follow, and whether it names the roots that they have.
    private func planTrees() throws {
        guard let schema, schema.count + 1 == writer.roots.count else { throw CompressionError.damaged(.rows) }
        self.schema = nil
        for table in try schema.inOrder() {
            plan.append(
                PlannedTree(isTable: true, name: table.tree.name, root: table.tree.root, table: 0, index: 0))
            for (place, index) in table.indexes.enumerated() {
                plan.append(
                    PlannedTree(
                        isTable: false, name: index.name, root: index.root, table: table.tree.root, index: place))
            }
        }
    }

    private func copyTree() throws {
        try begin(TreeHead())
        guard var tree = open.take() else { return }
        try copy(.max, &tree)
        try end(tree)
    }

    // MARK: Indexes

    private func derive(_ shape: IndexShape) throws {
        let planned = try planned()
        derivedOfTable += 1
        guard !planned.isTable, derivedOfTable <= IndexShape.mostOfTable else {
            throw CompressionError.damaged(.rows)
        }
        let index = DerivedIndex(shape, ofTable: planned.table, root: planned.root)
        try index.write(with: writer, to: target, room: mostPages - min(mostPages, writer.pageCount))
        next += 1
    }

    private func merge() throws {
        let planned = try planned()
        guard !planned.isTable, let place = merged.firstIndex(where: { $0.index == planned.index }),
            let source = try self.place(of: .named, planned)
        else { throw CompressionError.damaged(.rows) }
        var index = merged.remove(at: place)
        let rows = try base.rows(of: source, like: settings)
        guard rows.kind == .index else { throw CompressionError.damaged(.base) }
        var tree = writer.tree(.index, root: planned.root)
        try index.write(rows, to: &tree)
        try tree.end()
        next += 1
    }
}
