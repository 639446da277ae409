import StoreFormat

/// Compares the trees of a store with those of its base, and writes the delta.
struct DeltaWalk {
    private let base: DeltaStore
    private let new: DeltaStore
    private let shapes: [String: IndexShape]
    private let effort: SegmentEffort
    private let spill: () throws -> any SpillFile
    /// Of the trees of the base, by their names.
    private let places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int])
    /// Trees that are the same as in the base, and for which nothing is written yet.
    private var same = 0

    init(
        _ base: DeltaStore, _ new: DeltaStore, _ shapes: [String: IndexShape], _ effort: SegmentEffort,
        _ spill: @escaping () throws -> any SpillFile
    ) {
        self.base = base
        self.new = new
        self.shapes = shapes
        self.effort = effort
        self.spill = spill
        places = base.places(like: new.settings)
    }

    mutating func run(_ output: inout DeltaOutput) throws {
        let change = new.trees.count - base.trees.count
        var flags: UInt64 = change == 0 ? 0 : DeltaEncoder.changesTreesFlag
        let isOther = new.settings.numbers != base.settings.numbers
        if isOther { flags |= DeltaEncoder.changesSettingsFlag }
        output.areas.unsigned(flags)
        if isOther { new.settings.writeChanges(from: base.settings, into: &output.areas) }
        if change != 0 { output.areas.signed(Int64(change)) }
        try write(0, shapes: [], &output)
        for table in new.tables { try writeTable(table.place, table.indexes, &output) }
    }

    /// - Returns: The place of the tree in the base that has the same name and the same kind.
    private func baseTree(of tree: Int) throws -> Int? {
        guard tree > 0 else { return 0 }
        let named = new.trees[tree].isTable ? places.tables : places.indexes
        guard let place = named[new.trees[tree].name], try base.kind(of: place) == new.kind(of: tree) else {
            return nil
        }
        return place
    }

    private mutating func flushSame(_ output: inout DeltaOutput) {
        guard same > 0 else { return }
        output.areas.unsigned(DeltaTag.same.rawValue)
        output.areas.count(same - 1)
        same = 0
    }

    private func compare(_ tree: Int, _ baseTree: Int?, _ shapes: [IndexShape?]) throws -> TreeComparison {
        try TreeComparison(
            try baseTree.map { try base.rows(of: $0, like: new.settings) }, try new.rows(of: tree), shapes: shapes,
            new.settings.integers, spill: spill)
    }

    private mutating func write(_ tree: Int, shapes: [IndexShape?], _ output: inout DeltaOutput) throws {
        let baseTree = try baseTree(of: tree)
        try write(tree, baseTree, try compare(tree, baseTree, shapes), merged: [], &output)
    }

    private mutating func write(
        _ tree: Int, _ baseTree: Int?, _ comparison: TreeComparison, merged: [(Int, IndexShape)],
        _ output: inout DeltaOutput
    ) throws {
        guard comparison.hasChanges || baseTree == nil else {
            same += 1
            return
        }
        flushSame(&output)
        let rows = try new.rows(of: tree)
        var head = TreeHead()
        if baseTree == nil { head.base = .none(rows.kind) }
        head.countsRowids = comparison.countsRowids && rows.kind == .table
        head.merged = merged.map { (index: $0.0, shape: $0.1) }
        func baseRows() throws -> DeltaRows? { try baseTree.map { try base.rows(of: $0, like: new.settings) } }
        var encoder = TreeEncoder(
            comparison, head, baseTree: baseTree, source: try baseRows(), result: rows, new.settings, effort)
        try encoder.write(TreeJoin(try baseRows(), rows, skipsLeaves: !head.countsRowids), to: &output)
    }

    // MARK: Tables

    /// How an index is sent.
    private enum IndexPlan {
        case same
        case merged(IndexShape)
        case derived(IndexShape)
        case rows(Int?, TreeComparison)
    }

    private mutating func writeTable(_ table: Int, _ indexes: [Int], _ output: inout DeltaOutput) throws {
        let tableShapes = indexes.map { index -> IndexShape? in
            let name = String(bytes: new.trees[index].name, textEncoding: new.settings.textEncoding)
            guard let shape = name.flatMap({ shapes[$0] }), new.settings.textEncoding <= 1 || shape.isBinary else {
                return nil
            }
            return shape
        }
        let baseTree = try baseTree(of: table)
        let comparison = try compare(table, baseTree, tableShapes)
        var plans: [IndexPlan] = []
        var derived = 0
        for (place, index) in indexes.enumerated() {
            let plan = try self.plan(
                index, tableShapes[place], of: table, baseTree, comparison, comparison.sums[place], derived)
            if case .derived = plan { derived += 1 }
            plans.append(plan)
        }
        var merged: [(Int, IndexShape)] = []
        for (place, plan) in plans.enumerated() {
            if case .merged(let shape) = plan { merged.append((place, shape)) }
        }
        try write(table, baseTree, comparison, merged: merged, &output)
        for (index, plan) in zip(indexes, plans) {
            switch plan {
            case .same: same += 1
            case .merged:
                flushSame(&output)
                output.areas.unsigned(DeltaTag.merged.rawValue)
            case .derived(let shape):
                flushSame(&output)
                output.areas.unsigned(DeltaTag.derived.rawValue)
                for number in shape.numbers { output.areas.unsigned(number) }
            case .rows(let baseTree, let comparison):
                try write(index, baseTree, comparison, merged: [], &output)
            }
        }
    }

    private func plan(
        _ index: Int, _ shape: IndexShape?, of table: Int, _ tableBase: Int?, _ comparison: TreeComparison,
        _ sum: UInt64?, _ derived: Int
    ) throws -> IndexPlan {
        let baseTree = try baseTree(of: index)
        let canDerive = derived < IndexShape.mostOfTable
        if let baseTree {
            let found = try difference(of: index, shape, from: baseTree)
            guard found.hasChanges else { return .same }
            if let shape, let sum, sum == found.sum, let tableBase,
                base.trees[baseTree].table == base.trees[tableBase].root
            {
                let isMerged = comparison.runs.isEmpty && comparison.hasChanges
                if isMerged, !new.hasOtherForm(than: base) { return .merged(shape) }
                if canDerive { return .derived(shape) }
            }
        }
        if let shape, canDerive, try follows(index, shape, from: table) { return .derived(shape) }
        return .rows(baseTree, try compare(index, baseTree, []))
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

    /// Whether the entries are exactly those that follow from the rows, in the order in which a consumer would sort them.
    private func follows(_ index: Int, _ shape: IndexShape, from table: Int) throws -> Bool {
        var expected = ExpectedEntries(shape)
        var reader = try TreeReader(new.pages, new.geometry, root: new.trees[table].root, kind: new.kind(of: table))
        var indexed = IndexedRow()
        while let cell = try reader.next() {
            guard try indexed.read(cell, from: reader) else { return false }
            let (record, columns) = (indexed.record, indexed.columns)
            expected.add(record.span, columns, rowid: cell.rowid, new.settings.integers)
        }
        guard expected.isComplete else { return false }
        var entries = try new.rows(of: index)
        var row = DeltaRow()
        while try entries.next(&row) {
            guard !row.isLong, expected.take(row.record) else { return false }
        }
        return expected.areAllTaken
    }
}
