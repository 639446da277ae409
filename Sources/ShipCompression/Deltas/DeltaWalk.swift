import StoreFormat

/// The trees of a store beside those of its base.
struct DeltaWalk {
    private let base: DeltaStore
    private let new: DeltaStore
    private let shapes: [String: IndexShape]
    private let effort: SegmentEffort
    private let spill: () throws -> any SpillFile
    private let places: [DeltaStore.TreeName: Int]
    /// Trees that are as in the base, of which nothing was said yet.
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
        var flags: UInt64 = change == 0 ? 0 : DeltaHead.changesTrees
        let isOther = DeltaHead.numbers(new.settings) != DeltaHead.numbers(base.settings)
        if isOther { flags |= DeltaHead.changesSettings }
        output.writer.areas.unsigned(flags)
        if isOther { DeltaHead.write(new.settings, after: base.settings, into: &output.writer.areas) }
        if change != 0 { output.writer.areas.signed(Int64(change)) }
        try write(0, shapes: [], &output)
        for table in new.tables { try writeTable(table, &output) }
    }

    /// - Returns: The place of the tree in the base that has the same name and is of the same kind.
    private func baseTree(of tree: Int) throws -> Int? {
        guard tree > 0 else { return 0 }
        let name = DeltaStore.TreeName(isTable: new.trees[tree].isTable, name: new.trees[tree].name)
        guard let place = places[name], try base.kind(of: place) == new.kind(of: tree) else { return nil }
        return place
    }

    private mutating func flushSame(_ output: inout DeltaOutput) {
        guard same > 0 else { return }
        output.writer.areas.unsigned(DeltaTag.same.rawValue)
        output.writer.areas.count(same - 1)
        same = 0
    }

    private func examine(_ tree: Int, _ baseTree: Int?, _ shapes: [IndexShape?]) throws -> TreeExamination {
        try TreeExamination(
            try baseTree.map { try base.rows(of: $0, like: new.settings) }, try new.rows(of: tree), shapes: shapes,
            new.settings.integers, spill: spill)
    }

    private mutating func write(_ tree: Int, shapes: [IndexShape?], _ output: inout DeltaOutput) throws {
        let baseTree = try baseTree(of: tree)
        try write(tree, baseTree, try examine(tree, baseTree, shapes), merged: [], &output)
    }

    private mutating func write(
        _ tree: Int, _ baseTree: Int?, _ examination: TreeExamination, merged: [(Int, IndexShape)],
        _ output: inout DeltaOutput
    ) throws {
        guard examination.hasChanges || baseTree == nil else {
            same += 1
            return
        }
        flushSame(&output)
        let rows = try new.rows(of: tree)
        var head = TreeHead()
        if baseTree == nil { head.base = .none(rows.kind) }
        head.countsRowids = examination.countsRowids && rows.kind == .table
        head.merged = merged.map { (index: $0.0, shape: $0.1) }
        func baseRows() throws -> DeltaRows? { try baseTree.map { try base.rows(of: $0, like: new.settings) } }
        var encoder = TreeEncoder(
            examination, head, baseTree: baseTree, source: try baseRows(), result: rows, new.settings, effort)
        try encoder.write(TreeJoin(try baseRows(), rows, leaves: head.countsRowids ? .read : .skipped), to: &output)
    }

    // MARK: Tables

    /// How an index goes.
    private enum IndexPlan {
        case same
        case merged(IndexShape)
        case derived(IndexShape)
        case rows(Int?, TreeExamination)
    }

    private mutating func writeTable(_ table: Int, _ output: inout DeltaOutput) throws {
        let indexes = new.trees[table].indexes
        let tableShapes = indexes.map { index -> IndexShape? in
            let name = String(bytes: new.trees[index].name, textEncoding: new.settings.textEncoding)
            guard let shape = name.flatMap({ shapes[$0] }), new.settings.textEncoding <= 1 || shape.isBinary else {
                return nil
            }
            return shape
        }
        let baseTree = try baseTree(of: table)
        let examination = try examine(table, baseTree, tableShapes)
        var plans: [IndexPlan] = []
        var derived = 0
        for (place, index) in indexes.enumerated() {
            let plan = try self.plan(
                index, tableShapes[place], of: table, baseTree, examination, examination.sums[place], derived)
            if case .derived = plan { derived += 1 }
            plans.append(plan)
        }
        var merged: [(Int, IndexShape)] = []
        for (place, plan) in plans.enumerated() {
            if case .merged(let shape) = plan { merged.append((place, shape)) }
        }
        try write(table, baseTree, examination, merged: merged, &output)
        for (index, plan) in zip(indexes, plans) {
            switch plan {
            case .same: same += 1
            case .merged:
                flushSame(&output)
                output.writer.areas.unsigned(DeltaTag.merged.rawValue)
            case .derived(let shape):
                flushSame(&output)
                output.writer.areas.unsigned(DeltaTag.derived.rawValue)
                shape.write(into: &output.writer.areas)
            case .rows(let baseTree, let examination):
                try write(index, baseTree, examination, merged: [], &output)
            }
        }
    }

    private func plan(
        _ index: Int, _ shape: IndexShape?, of table: Int, _ tableBase: Int?, _ examination: TreeExamination,
        _ sum: UInt64?, _ derived: Int
    ) throws -> IndexPlan {
        let baseTree = try baseTree(of: index)
        let canDerive = derived < IndexShape.mostOfTable
        if let baseTree {
            let found = try difference(of: index, shape, from: baseTree)
            guard found.hasChanges else { return .same }
            if let shape, let sum, sum == found.sum, !found.hasLong, found.isOrdered, tableBase != nil,
                base.trees[baseTree].table == tableBase
            {
                let isMerged = examination.runs.isEmpty && examination.hasChanges
                if isMerged, !new.hasOtherForm(than: base) { return .merged(shape) }
                if canDerive { return .derived(shape) }
            }
        }
        if let shape, canDerive, try follows(index, shape, from: table) { return .derived(shape) }
        return .rows(baseTree, try examine(index, baseTree, []))
    }

    /// How the entries of an index differ from those of the base.
    private struct Difference {
        var hasChanges = false
        /// Whether there is an entry that is too long to be held.
        var hasLong = false
        /// Whether all come in the order in which a consumer would put them.
        var isOrdered = true
        /// What the hashes come to beyond those of the base.
        var sum: UInt64 = 0
    }

    private func difference(of index: Int, _ shape: IndexShape?, from baseTree: Int) throws -> Difference {
        // SQLite's own collations of texts end at a zero byte, and ours do not: there the order has to be looked at.
        let order = shape.flatMap { $0.isBinary ? nil : IndexOrder($0) }
        var join = TreeJoin(
            try base.rows(of: baseTree, like: new.settings), try new.rows(of: index),
            leaves: order == nil ? .skipped : .read)
        var found = Difference()
        var (lastOld, lastNew): ([UInt8], [UInt8]) = ([], [])
        func isNext(_ row: DeltaRow, after last: inout [UInt8]) -> Bool {
            guard let order else { return true }
            let record = row.record
            defer { last = record }
            return last.isEmpty || order.compare(last.span, record.span) < 0
        }
        while let step = try join.next() {
            // A leaf with an overflow chain is not passed over.
            if step == .sameLeaf { continue }
            if join.old.row.isLong || join.new.row.isLong { found.hasLong = true }
            if step != .new, !isNext(join.old.row, after: &lastOld) { found.isOrdered = false }
            if step != .old, !isNext(join.new.row, after: &lastNew) { found.isOrdered = false }
            if step == .same { continue }
            found.hasChanges = true
            if step != .new { found.sum &-= EntrySum.hash(join.old.row.record) }
            if step != .old { found.sum &+= EntrySum.hash(join.new.row.record) }
        }
        return found
    }

    /// Whether all entries follow from the rows, in the order in which a consumer would put them.
    private func follows(_ index: Int, _ shape: IndexShape, from table: Int) throws -> Bool {
        var expected = ExpectedEntries(shape)
        var reader = try TreeReader(new.pages, new.geometry, root: new.trees[table].root, kind: new.kind(of: table))
        var indexed = IndexedRow()
        while let cell = try reader.next() {
            guard try indexed.read(cell, from: reader) else { return false }
            let (record, columns) = (indexed.record, indexed.columns)
            expected.add(record.span, columns, rowid: cell.rowid, new.settings.integers)
        }
        guard expected.isWhole else { return false }
        var found = FoundEntries(shape)
        var entries = try new.rows(of: index)
        var row = DeltaRow()
        while try entries.next(&row) {
            guard !row.isLong, found.add(row.record), found.count <= expected.count else { return false }
        }
        return found.agree(with: expected)
    }
}
