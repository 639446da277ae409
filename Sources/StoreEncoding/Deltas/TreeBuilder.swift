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
    let plan: TreePlan
    let work: DecodingWork
    /// Of the trees of the base, by their names.
    private let places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int])
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
        self.work = work
        plan = try TreePlan(settings, treeCount: treeCount, mostPages: mostPages, work, to: target)
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
        case .derived:
            let parts = try source.control.count(limit: IndexShape.mostParts)
            try plan.derive(try IndexShape(parts: parts, from: &source))
        case .merged: try merge()
        case .pieces: try takePieces(&source)
        case .later: try plan.postpone(pages: try source.control.count(limit: Int(plan.mostPages)))
        case .leaves: try takeLeaves(&source)
        }
    }

    /// Copies the trees that no item mentions, and completes the file.
    func finish() throws {
        guard open == nil, long == nil else { throw CompressionError.damaged(.rows) }
        while !plan.isComplete { try copyTree() }
        try plan.finish()
    }

    /// - Returns: The place in the base of the tree that the next tree is made of.
    private func place(of head: TreeHead.Base, _ planned: PlannedTree) throws -> Int? {
        switch head {
        case .named:
            guard !plan.isInSchema else { return 0 }
            guard let place = (planned.isTable ? places.tables : places.indexes)[planned.name] else {
                throw CompressionError.damaged(.base)
            }
            return place
        case .at(let place):
            guard place < base.trees.count, !plan.isInSchema else { throw CompressionError.damaged(.base) }
            return place
        case .none: return nil
        }
    }

    func begin(_ head: TreeHead) throws {
        let planned = try plan.current()
        let rows = try place(of: head.base, planned).map {
            try base.rows(of: $0, like: settings, columns: head.columns)
        }
        var kind = rows?.kind ?? .table
        if case .none(let said) = head.base { kind = said }
        guard head.columns == nil || rows != nil && !plan.isInSchema else { throw CompressionError.damaged(.rows) }
        let tree = try plan.begin(kind)
        if planned.isTable { merged = [] }
        let isBinary = head.merged.allSatisfy { $0.shape.isBinary }
        guard head.merged.isEmpty || planned.isTable && !plan.isInSchema && (settings.textEncoding <= 1 || isBinary)
        else {
            throw CompressionError.damaged(.rows)
        }
        let runSize = max(65_536, Self.mergeSize / max(1, head.merged.count))
        for (index, shape) in head.merged {
            merged.append(
                MergedIndex(index, shape, settings.integers, runSize: runSize, work) { [plan] in
                    try plan.target.makeSpillFile()
                })
        }
        open = OpenTree(tree: tree, kind: kind, head: head, base: rows, isIndexed: !head.merged.isEmpty)
    }

    /// Rows of the current tree that are leaves of a full-text index.
    private func takeLeaves(_ source: inout SegmentReader) throws {
        guard var tree = open.take(), tree.kind == .table, !tree.isIndexed else {
            throw CompressionError.damaged(.rows)
        }
        try plan.readLeaves(from: &source) { record, rowid in
            try tree.tree.append(record.span, rowid: rowid)
            tree.lastRowid = rowid
        }
        open = consume tree
    }

    /// The next row of `sqlite_schema`, with the root page that its tree has in the result.
    func rooted(_ record: [UInt8]) throws -> [UInt8] {
        guard let row = SchemaRow(record.span) else { throw CompressionError.damaged(.rows) }
        if row.root != 0 { namedTrees += 1 }
        guard namedTrees < plan.writer.roots.count else { throw CompressionError.damaged(.rows) }
        return row.encoded(from: record.span, root: plan.writer.roots[namedTrees], settings.integers)
    }

    private func copyTree() throws {
        try work.spend(DecodingWork.item)
        try begin(TreeHead())
        guard var tree = open.take() else { return }
        try copy(.max, &tree)
        try plan.end(tree.tree)
    }

    // MARK: Indexes

    private func merge() throws {
        let planned = try plan.current()
        guard !planned.isTable, let place = merged.firstIndex(where: { $0.index == planned.index }),
            let source = try self.place(of: .named, planned)
        else { throw CompressionError.damaged(.rows) }
        var index = merged.remove(at: place)
        let rows = try base.rows(of: source, like: settings)
        guard rows.kind == .index else { throw CompressionError.damaged(.base) }
        var tree = try plan.begin(.index)
        try index.write(rows, to: &tree)
        try plan.end(tree)
    }
}
