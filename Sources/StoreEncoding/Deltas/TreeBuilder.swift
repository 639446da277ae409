import ShipCompression
import StoreFormat

/// Builds the trees of the result in order, from those of the base and the items of a delta.
///
/// Source: `Protocol/DELTA.md` sections 2, 4 and 6.
final class TreeBuilder {
    /// About how many bytes of entries all merged indexes of a table hold in memory together.
    private static let mergeSize = 4 << 20

    let base: DeltaStore
    let settings: StoreSettings
    let writer: StoreWriter
    let work: DecodingWork
    private let target: any StoreBuilder.Target
    private let mostPages: UInt32
    /// Of the trees of the base, by their names.
    private let places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int])
    /// The trees of the result in order. Before the schema has come, only the first is known.
    private var plan = [PlannedTree.schema]
    var next = 0
    /// The trees that come after all others: their places in the plan, and the pages that are kept for them.
    private var later: [(place: Int, pages: KeptPages)] = []
    private var laterEnded = 0
    private var leaves = FullTextReader()
    private var derivedOfTable = 0
    var schema: SchemaTrees?
    /// Rows of `sqlite_schema` so far that name a tree.
    private var namedTrees = 0
    var open: OpenTree?
    /// The merged indexes of the current table that are not written yet.
    var merged: [MergedIndex] = []
    /// The current long row, whose record comes in pieces.
    var long: (record: PieceReader, check: RecordCheck)?

    struct OpenTree: ~Copyable {
        var tree: TreeWriter
        let kind: TreeKind
        let head: TreeHead
        var base: DeltaRows?
        /// Whether the table has merged indexes.
        let isIndexed: Bool
        /// The number that is added to rowids of the base.
        var shift: Int64 = 0
        var lastRowid: Int64 = 0
        /// The number that is added to the rowid of the next row only.
        var pending: Int64 = 0
    }

    init(
        _ base: DeltaStore, _ settings: StoreSettings, treeCount: Int, mostPages: UInt32, _ work: DecodingWork,
        to target: any StoreBuilder.Target
    ) throws {
        self.base = base
        self.settings = settings
        self.target = target
        self.work = work
        self.mostPages = mostPages
        writer = try StoreWriter(settings, treeCount: treeCount, mostPages: mostPages, sink: target)
        schema = SchemaTrees(textEncoding: settings.textEncoding)
        places = base.places(like: settings)
    }

    // MARK: Items

    func takeItem(_ source: inout SegmentReader) throws {
        try work.spend(DecodingWork.item)
        guard let tag = DeltaTag(rawValue: try source.control.varint()) else { throw CompressionError.damaged(.rows) }
        guard long == nil || tag == .pieces, open == nil || tag == .part || tag == .leaves || long != nil
        else {
            throw CompressionError.damaged(.rows)
        }
        switch tag {
        case .same:
            let count = try source.control.count(limit: SchemaTrees.most)
            for _ in 0...count { try copyTree() }
        case .part: try takePart(&source)
        case .derived: try derive(try IndexShape(fromDelta: &source))
        case .merged: try merge()
        case .pieces: try takePieces(&source)
        case .later: try postpone(pages: try source.control.count(limit: Int(mostPages)))
        case .leaves: try takeLeaves(&source)
        }
    }

    /// Copies the trees that no item mentions, and completes the file.
    func finish() throws {
        guard open == nil, long == nil else { throw CompressionError.damaged(.rows) }
        while next < plan.count || laterEnded < later.count { try copyTree() }
        try writer.finish()
        guard writer.pageCount == mostPages else { throw CompressionError.damaged(.rows) }
    }

    private func planned() throws -> PlannedTree {
        if next < plan.count { return plan[next] }
        guard laterEnded < later.count else { throw CompressionError.damaged(.rows) }
        return plan[later[laterEnded].place]
    }

    /// - Returns: The place in the base of the tree that the next tree is made of.
    private func place(of head: TreeHead.Base, _ planned: PlannedTree) throws -> Int? {
        switch head {
        case .named:
            guard next > 0 else { return 0 }
            guard let place = (planned.isTable ? places.tables : places.indexes)[planned.name] else {
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
        let rows = try place(of: head.base, planned).map {
            try base.rows(of: $0, like: settings, columns: head.columns)
        }
        var kind = rows?.kind ?? .table
        if case .none(let said) = head.base { kind = said }
        // A table WITHOUT ROWID is a tree of entries; an index is never a tree of rows.
        guard planned.isTable || kind == .index, next > 0 || kind == .table && head.columns == nil,
            rows != nil || head.columns == nil
        else { throw CompressionError.damaged(.rows) }
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
                MergedIndex(index, shape, settings.integers, runSize: runSize, work) { [target] in
                    try target.makeSpillFile()
                })
        }
        leaves = FullTextReader()
        if next == plan.count { writer.fill(later[laterEnded].pages) }
        open = OpenTree(
            tree: writer.tree(kind, root: planned.root), kind: kind, head: head, base: rows,
            isIndexed: !head.merged.isEmpty)
    }

    func end(_ tree: consuming OpenTree) throws {
        try tree.tree.end()
        guard next < plan.count else {
            try writer.endFilling()
            laterEnded += 1
            return
        }
        next += 1
        if next == 1 { try planTrees() }
    }

    /// The next tree is a table whose rows come after those of all other trees.
    private func postpone(pages count: Int) throws {
        guard next > 0, next < plan.count, plan[next].isTable, next + 1 == plan.count || plan[next + 1].isTable,
            later.count < StoreBuilder.mostLater
        else { throw CompressionError.damaged(.rows) }
        later.append((next, try writer.keep(count)))
        next += 1
    }

    /// Rows of the current tree that are leaves of a full-text index.
    private func takeLeaves(_ source: inout SegmentReader) throws {
        guard var tree = open.take(), tree.kind == .table, next > 0, !tree.isIndexed, settings.textEncoding <= 1 else {
            throw CompressionError.damaged(.rows)
        }
        try leaves.read(from: &source, work) { shape in
            // Its rows have all come.
            guard let place = plan[1..<next].firstIndex(where: { $0.place == shape.content }), plan[place].isTable,
                !later.contains(where: { $0.place == place }),
                try TreeReader.kind(of: plan[place].root, in: target, writer.geometry) == .table
            else { throw CompressionError.damaged(.rows) }
            return try shape.postings(in: target, writer.geometry, root: plan[place].root, work) { [target] in
                try target.makeSpillFile()
            }
        } put: { record, rowid in
            try tree.tree.append(record.span, rowid: rowid)
            tree.lastRowid = rowid
        }
        open = consume tree
    }

    /// Lists the trees that follow the schema.
    private func planTrees() throws {
        guard let schema, schema.count + 1 == writer.roots.count else { throw CompressionError.damaged(.rows) }
        self.schema = nil
        plan += try PlannedTree.all(of: schema)
    }

    /// The next row of `sqlite_schema`, with the root page that its tree has in the result.
    func rooted(_ record: [UInt8]) throws -> [UInt8] {
        guard let row = SchemaRow(record.span) else { throw CompressionError.damaged(.rows) }
        if row.root != 0 { namedTrees += 1 }
        guard namedTrees < writer.roots.count else { throw CompressionError.damaged(.rows) }
        return row.encoded(from: record.span, root: writer.roots[namedTrees], settings.integers)
    }

    private func copyTree() throws {
        try work.spend(DecodingWork.item)
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
        try shape.writeIndex(
            ofTable: planned.table, root: planned.root, with: writer, to: target,
            room: mostPages - min(mostPages, writer.pageCount), work)
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
