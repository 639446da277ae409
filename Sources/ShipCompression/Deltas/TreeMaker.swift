import StoreFormat

/// The trees of a result, made from those of the base and what a delta says, one after the other.
///
/// Source: `Protocol/DELTA.md` sections 2, 4 and 6.
final class TreeMaker {
    /// Bytes of entries that all merged indexes of a table hold in memory together, about.
    private static let mergeSize = 4 << 20

    let base: DeltaStore
    let settings: StoreSettings
    private let writer: StoreWriter
    private let target: any StoreBuilder.Target
    private let mostPages: UInt32
    private let places: [DeltaStore.TreeName: Int]
    /// The trees of the result in their order; only the first is known at first.
    private var plan = [PlannedTree(isTable: true, name: [], root: 1, table: 0, index: 0)]
    private var next = 0
    private var derivedOfTable = 0
    private var schema: SchemaTrees?
    private var schemaRows = SchemaRows()
    private var open: OpenTree?
    /// Of the table at hand, or the last one.
    private var merged: [MergedIndex] = []
    private var long: LongRowMaker?

    private struct PlannedTree {
        let isTable: Bool
        let name: [UInt8]
        let root: UInt32
        /// Of an index: the root of its table.
        let table: UInt32
        /// Of an index: its place among those of its table.
        let index: Int
    }

    private struct OpenTree: ~Copyable {
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
    private struct LongRowMaker {
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

    private func begin(_ head: TreeHead) throws {
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

    private func end(_ tree: consuming OpenTree) throws {
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

    // MARK: Parts

    private func takePart(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        if open == nil { try begin(try TreeHead(from: &source)) }
        guard var tree = open.take() else { return }
        var plan = try TreePart.Plan(from: &source, rowsLeft: &room.rows, contentLeft: &room.content)
        try checkLiterals(plan)
        var literal = 0
        var row = DeltaRow()
        for event in plan.events {
            try copy(event.copies, &tree)
            try jump(event, &tree)
            switch event.kind {
            case .skip: break
            case .edit:
                for _ in 0..<event.count { try edit(&plan.edits, &tree) }
            case .literal:
                for _ in 0..<event.count {
                    let start = literal == 0 ? 0 : plan.literals.ends[literal - 1]
                    row.record = Array(plan.literals.records[start..<plan.literals.ends[literal]])
                    row.size = row.record.count
                    literal += 1
                    row.rowid = plan.literals.rowids?[literal - 1] ?? nextRowid(&tree)
                    try change(from: nil, to: row, tree.isIndexed)
                    try put(row, &tree)
                }
            case .long: try beginLong(&source, &tree)
            }
        }
        if plan.isLast {
            if plan.copiesRest { try copy(.max, &tree) } else { try passRest(&tree) }
            try end(tree)
        } else {
            open = consume tree
        }
    }

    /// Records that were made of columns are canonical, in the one encoding or in the other; others may be anything.
    private func checkLiterals(_ plan: TreePart.Plan) throws {
        let records = plan.literals.records.span
        var start = 0
        for end in plan.literals.ends {
            guard end >= start, end <= records.count, end - start <= CanonicalForm.longestHeldRecord,
                plan.madeForm == settings.integers
                    || CanonicalRecord.judge(records.extracting(start..<end), settings.integers) == .canonical
            else { throw CompressionError.damaged(.rows) }
            start = end
        }
    }

    /// Rows of the base that stay.
    ///
    /// - Parameter count: `.max` for all that are left.
    private func copy(_ count: Int, _ tree: inout OpenTree) throws {
        guard count > 0 else { return }
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var row = DeltaRow()
        var left = count
        while left > 0 {
            guard try rows.next(&row) else {
                guard count == .max else { throw CompressionError.damaged(.base) }
                break
            }
            left -= 1
            let rowid = row.rowid
            row.rowid = rebased(rowid, &tree)
            if row.rowid != rowid, tree.isIndexed, tree.kind == .table {
                var old = row
                old.rowid = rowid
                try change(from: old, to: row, true)
            }
            guard row.isLong else {
                try put(row, &tree)
                continue
            }
            guard !rows.isConverting, next > 0 else { throw CompressionError.damaged(.rows) }
            tree.lastRowid = row.rowid
            try tree.tree.beginRecord(size: row.size, rowid: tree.kind == .table ? row.rowid : 0)
            try rows.forEachPiece { try tree.tree.extendRecord($0) }
            try tree.tree.endRecord()
        }
        tree.base = rows
    }

    private func jump(_ event: TreeEvent, _ tree: inout OpenTree) throws {
        if tree.head.countsRowids || event.kind == .literal || event.kind == .long {
            tree.pending &+= event.shift
        } else {
            tree.shift &+= event.shift
        }
        guard event.jump != 0 else { return }
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        let place = rows.position + event.jump
        guard place >= 0, place <= base.mostRows else { throw CompressionError.damaged(.base) }
        if !tree.isIndexed {
            guard try rows.move(to: place) else { throw CompressionError.damaged(.base) }
        } else {
            // Entries of a row that is passed over go; a row that is passed over must not come back.
            guard event.jump > 0 else { throw CompressionError.damaged(.rows) }
            var row = DeltaRow()
            while rows.position < place {
                guard try rows.next(&row) else { throw CompressionError.damaged(.base) }
                try change(from: row, to: nil, true)
            }
        }
        tree.base = rows
    }

    /// What no part said of rows of the base that are left: they go.
    private func passRest(_ tree: inout OpenTree) throws {
        guard tree.isIndexed, var rows = tree.base.take() else { return }
        var row = DeltaRow()
        while try rows.next(&row) { try change(from: row, to: nil, true) }
    }

    private func edit(_ edits: inout RowEdits, _ tree: inout OpenTree) throws {
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var old = DeltaRow()
        guard try rows.next(&old), !old.isLong, let values = DeltaValue.values(of: old.record) else {
            throw CompressionError.damaged(.base)
        }
        tree.base = rows
        var new = DeltaRow()
        new.record = DeltaValue.record(of: try edits.apply(to: values), settings.integers)
        new.size = new.record.count
        guard !new.isLong else { throw CompressionError.damaged(.segmentLimit) }
        new.rowid = rebased(old.rowid, &tree)
        try change(from: old, to: new, tree.isIndexed)
        try put(new, &tree)
    }

    /// Notes for the indexes that are merged that a row of the base becomes another.
    private func change(from old: DeltaRow?, to new: DeltaRow?, _ isIndexed: Bool) throws {
        guard isIndexed else { return }
        for index in merged.indices { try merged[index].change(from: old, to: new) }
    }

    // MARK: Rows

    /// The rowid of a row of which the base has another.
    private func rebased(_ rowid: Int64, _ tree: inout OpenTree) -> Int64 {
        tree.head.countsRowids ? nextRowid(&tree) : rowid &+ tree.shift
    }

    private func nextRowid(_ tree: inout OpenTree) -> Int64 {
        defer { tree.pending = 0 }
        return tree.lastRowid &+ 1 &+ tree.pending
    }

    private func put(_ row: DeltaRow, _ tree: inout OpenTree) throws {
        tree.lastRowid = row.rowid
        guard next == 0 else {
            let record = row.record
            return try tree.tree.append(record.span, rowid: tree.kind == .table ? row.rowid : 0)
        }
        let record = try schemaRows.rooted(row.record, writer.roots, settings.integers)
        try schema?.add(record.span)
        try tree.tree.append(record.span, rowid: row.rowid)
    }

    // MARK: Long rows

    private func beginLong(_ source: inout SegmentSource, _ tree: inout OpenTree) throws {
        let size = try source.control.count(limit: Int(Int32.max))
        let hasSource = try source.control.count(limit: 1) == 1
        guard next > 0, size > CanonicalForm.longestHeldRecord, !tree.isIndexed else {
            throw CompressionError.damaged(.rows)
        }
        var bytes: any ByteSource = NoBytes()
        if hasSource {
            guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
            var row = DeltaRow()
            guard try rows.next(&row), let places = try rows.places() else { throw CompressionError.damaged(.base) }
            bytes = RecordBytes(places)
            tree.base = rows
            let rowid = rebased(row.rowid, &tree) &+ tree.pending
            (tree.lastRowid, tree.pending) = (rowid, 0)
        } else {
            tree.lastRowid = nextRowid(&tree)
        }
        try tree.tree.beginRecord(size: size, rowid: tree.kind == .table ? tree.lastRowid : 0)
        long = LongRowMaker(source: bytes, left: Int64(size))
    }

    private func takePiece(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        guard var row = long, var tree = open.take() else { throw CompressionError.damaged(.rows) }
        let integers = settings.integers
        var (left, end, check) = (row.left, row.end, row.check)
        try BytePiece.read(
            from: &source, copying: row.source, left: &left, after: &end, contentLeft: &room.content
        ) { bytes in
            guard check.take(bytes, integers) else { throw CompressionError.damaged(.rows) }
            try tree.tree.extendRecord(bytes)
        }
        (row.left, row.end, row.check) = (left, end, check)
        long = row
        if left == 0 {
            guard check.isCanonical else { throw CompressionError.damaged(.rows) }
            try tree.tree.endRecord()
            long = nil
        }
        open = consume tree
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

/// Gives the rows of `sqlite_schema` the root pages of the result, one after the other.
struct SchemaRows {
    private var named = 0

    /// - Parameter roots: Of all trees.
    mutating func rooted(_ record: [UInt8], _ roots: [UInt32], _ integers: IntegerForm) throws -> [UInt8] {
        guard let row = SchemaRow(record.span) else { throw CompressionError.damaged(.rows) }
        if row.root != 0 { named += 1 }
        guard named < roots.count else { throw CompressionError.damaged(.rows) }
        return row.encoded(from: record.span, root: roots[named], integers)
    }
}
