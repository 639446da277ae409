import ShipProtocol
import StoreFormat

/// Compares the trees of a store with those of its base, and writes the delta.
struct DeltaWalk {
    private let base: DeltaStore
    private let new: DeltaStore
    private let shapes: [String: IndexShape]
    /// The names of the tables that have the same rows in both.
    private let unchanged: Set<[UInt8]>
    private let spill: () throws -> any SpillFile
    private let sources: BaseTrees
    /// `nil` where no leaves of full-text indexes can follow.
    private let fullText: FullTextTables?
    /// Trees that are the same as in the base, and for which nothing is written yet.
    private var same = 0
    /// The tables that come after all others.
    private var later: [(table: Int, source: TreeSource?, comparison: TreeComparison, leaves: FullTextSource)] = []

    init(
        _ base: DeltaStore, _ new: DeltaStore, _ shapes: [String: IndexShape], _ unchanged: Set<ForeignText>,
        _ spill: @escaping () throws -> any SpillFile
    ) throws {
        self.base = base
        self.new = new
        self.shapes = shapes
        self.unchanged = Set(unchanged.map { $0.unescaped.bytes(textEncoding: new.settings.textEncoding) })
        self.spill = spill
        sources = try BaseTrees(base, new)
        fullText = try Self.fullText(of: new, spill)
    }

    private static func fullText(
        of new: DeltaStore, _ spill: @escaping () throws -> any SpillFile
    ) throws -> FullTextTables? {
        guard new.settings.textEncoding <= 1 else { return nil }
        let budget = FullTextSource.Budget(bytes: Int(new.pages.pageCount) * new.geometry.pageSize)
        var tables = FullTextTables(
            FullTextSource.Store(pages: new.pages, geometry: new.geometry, makeSpillFile: spill, budget: budget))
        var (rows, row) = (try new.rows(of: 0), DeltaRow())
        while try rows.next(&row) { tables.add(row.record.span) }
        return tables
    }

    mutating func run(_ output: inout DeltaOutput) throws {
        output.write(new, over: base.settings, trees: base.trees.count)
        try write(0, shapes: [], &output)
        for table in new.tables { try writeTable(table.place, table.indexes, &output) }
        for (table, source, comparison, leaves) in later {
            try write(table, source, comparison, merged: [], following: leaves, &output)
        }
    }

    private mutating func flushSame(_ output: inout DeltaOutput) {
        output.write(same: same)
        same = 0
    }

    private func rows(of source: TreeSource?) throws -> DeltaRows? {
        try source.map { try base.rows(of: $0.place, like: new.settings, columns: $0.columns) }
    }

    private func compare(_ tree: Int, _ source: TreeSource?, _ shapes: [IndexShape?]) throws -> TreeComparison {
        try TreeComparison(
            try rows(of: source), try new.rows(of: tree), shapes: shapes, new.settings.integers, spill: spill)
    }

    /// Compares a tree with that of its name, or with another one that it has more in common with.
    private func compare(
        _ tree: Int, shapes: [IndexShape?]
    ) throws -> (source: TreeSource?, comparison: TreeComparison) {
        var source = try sources.named(tree)
        let isDoubtful = source.map { sources.isRedefined(tree, from: $0) } ?? true
        if isDoubtful { source = try sources.resembling(tree, source) }
        let comparison = try compare(tree, source, shapes)
        guard !isDoubtful, !comparison.hasMostRows else { return (source, comparison) }
        let other = try sources.resembling(tree, source)
        return other == source ? (source, comparison) : (other, try compare(tree, other, shapes))
    }

    private mutating func write(_ tree: Int, shapes: [IndexShape?], _ output: inout DeltaOutput) throws {
        let (source, comparison) = try compare(tree, shapes: shapes)
        try write(tree, source, comparison, merged: [], &output)
    }

    private mutating func write(
        _ tree: Int, _ source: TreeSource?, _ comparison: TreeComparison, merged: [(Int, IndexShape)],
        following leaves: FullTextSource? = nil, _ output: inout DeltaOutput
    ) throws {
        let isAsNamed = source.map { $0.isNamed && $0.columns == nil } ?? false
        guard comparison.hasChanges || !isAsNamed else {
            same += 1
            return
        }
        flushSame(&output)
        let result = try new.rows(of: tree)
        var head = TreeHead(source, result.kind)
        head.countsRowids = comparison.countsRowids && result.kind == .table
        head.merged = merged.map { (index: $0.0, shape: $0.1) }
        var encoder = TreeEncoder(
            comparison, head, baseTree: source?.place, source: try rows(of: source), result: result, new.settings,
            following: leaves)
        let skipsLeaves = !head.countsRowids && leaves == nil
        try encoder.write(TreeJoin(try rows(of: source), result, skipsLeaves: skipsLeaves), to: &output)
    }

    // MARK: Tables

    /// How an index is sent.
    private enum IndexPlan {
        case same
        case merged(IndexShape)
        case derived(IndexShape)
        case rows(TreeSource?, TreeComparison)
    }

    private mutating func writeTable(_ table: Int, _ indexes: [Int], _ output: inout DeltaOutput) throws {
        let tableShapes = indexes.map { new.shape(of: $0, among: shapes) }
        let (source, comparison) =
            try unchangedSource(of: table).map { ($0, TreeComparison(unchangedWith: indexes.count)) }
            ?? compare(table, shapes: tableShapes)
        if indexes.isEmpty, let leaves = try leaves(of: table, comparison) {
            guard comesLater(leaves, in: table) else {
                return try write(table, source, comparison, merged: [], following: leaves, &output)
            }
            if later.count < TreePlan.mostLater {
                flushSame(&output)
                output.write(later: leaves.pageCount)
                return later.append((table, source, comparison, leaves))
            }
        }
        var plans: [IndexPlan] = []
        var merged: [(Int, IndexShape)] = []
        var derived = 0
        for (place, index) in indexes.enumerated() {
            let canFollow = (
                merging: merged.count < SegmentLimits.merged, deriving: derived < IndexShape.mostOfTable
            )
            let plan = try self.plan(
                index, tableShapes[place], of: table, source, comparison, comparison.sums[place], canFollow)
            switch plan {
            case .merged(let shape): merged.append((place, shape))
            case .derived: derived += 1
            case .same, .rows: break
            }
            plans.append(plan)
        }
        try write(table, source, comparison, merged: merged, &output)
        for (index, plan) in zip(indexes, plans) {
            switch plan {
            case .same: same += 1
            case .merged:
                flushSame(&output)
                output.write { $0.unsigned(DeltaTag.merged.rawValue) }
            case .derived(let shape):
                flushSame(&output)
                try output.write(derived: shape)
            case .rows(let source, let comparison):
                try write(index, source, comparison, merged: [], &output)
            }
        }
    }

    /// Knows which of the leaves that a table has follow; `nil` if it has no new ones.
    private func leaves(of table: Int, _ comparison: TreeComparison) throws -> FullTextSource? {
        guard let fullText, !comparison.indexesOfLeaves.isEmpty,
            let tree = new.named.first(where: { $0.index == table }), fullText.areLeaves(in: tree)
        else { return nil }
        return try fullText.source(of: tree, among: new.named, indexes: comparison.indexesOfLeaves)
    }

    /// Whether a table comes before the one that its leaves follow from.
    private func comesLater(_ leaves: FullTextSource, in table: Int) -> Bool {
        new.tables.first { [table, leaves.content].contains($0.place) }?.place == table
    }

    /// The table of the base that has the same rows and the same definition; `nil` if the tables have to be compared.
    private func unchangedSource(of table: Int) throws -> TreeSource? {
        guard unchanged.contains(new.trees[table].name), !new.hasOtherForm(than: base),
            let source = try sources.named(table), !sources.isRedefined(table, from: source)
        else { return nil }
        return source
    }

    /// - Parameter canFollow: Whether the table may have another index that is merged, and one that is derived.
    private func plan(
        _ index: Int, _ shape: IndexShape?, of table: Int, _ tableSource: TreeSource?, _ comparison: TreeComparison,
        _ sum: UInt64?, _ canFollow: (merging: Bool, deriving: Bool)
    ) throws -> IndexPlan {
        if let named = try sources.named(index) {
            let found = try difference(of: index, shape, from: named.place)
            guard found.hasChanges else { return .same }
            if canFollow.merging, let shape, let sum, sum == found.sum, let tableSource,
                base.trees[named.place].table == base.trees[tableSource.place].root, comparison.isForward,
                comparison.hasChanges, !new.hasOtherForm(than: base)
            {
                return .merged(shape)
            }
        }
        if let shape, canFollow.deriving, try new.follows(index, shape, from: table) { return .derived(shape) }
        let (source, comparison) = try compare(index, shapes: [])
        return .rows(source, comparison)
    }

    /// How the entries of an index differ from those of the base.
    ///
    /// - Returns: `sum` is the sum of the hashes of the entries less that of the base. It is `nil` if the entries cannot follow from
    ///   rows: one is too long, or they are not in the order in which a consumer would sort them.
    private func difference(
        of index: Int, _ shape: IndexShape?, from baseTree: Int
    ) throws -> (hasChanges: Bool, sum: UInt64?) {
        // SQLite's collations of texts end at a zero byte, and ours do not: for these the order is checked.
        let order = shape.flatMap { $0.isBinary ? nil : IndexOrder($0) }
        var join = TreeJoin(
            try base.rows(of: baseTree, like: new.settings), try new.rows(of: index),
            skipsLeaves: order == nil)
        var (hasChanges, canFollow, sum) = (false, true, UInt64(0))
        var (lastOld, lastNew): ([UInt8], [UInt8]) = ([], [])
        func isNext(_ row: DeltaRow, after last: inout [UInt8]) -> Bool {
            guard let order else { return true }
            let record = row.record
            defer { last = record }
            return last.isEmpty || order.compare(last.span, record.span) < 0
        }
        while let step = try join.next() {
            // A leaf with an overflow chain is never skipped, so that long entries are found below.
            if step == .sameLeaf { continue }
            if join.old.isLong || join.new.isLong { canFollow = false }
            if step != .new, !isNext(join.old, after: &lastOld) { canFollow = false }
            if step != .old, !isNext(join.new, after: &lastNew) { canFollow = false }
            if step == .same { continue }
            hasChanges = true
            if step != .new { sum &-= join.old.hash }
            if step != .old { sum &+= join.new.hash }
        }
        return (hasChanges, canFollow ? sum : nil)
    }
}
