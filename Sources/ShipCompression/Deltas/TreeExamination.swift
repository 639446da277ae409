import StoreFormat

/// How a tree differs from its base, as a first look at all rows finds.
struct TreeExamination {
    private(set) var hasChanges = false
    /// Rows that are in the base under other keys.
    private(set) var runs: [ContentMatches.Run] = []
    /// Rows of the base that are not in the result.
    private(set) var values = ValueMatches()
    /// Rows whose rowid is not the one after the row before.
    private var gaps = 0
    /// Rows of the base.
    private(set) var baseCount = 0
    /// Of each index: what the hashes of its entries should come to beyond those of the base; `nil` where it cannot be said.
    private(set) var sums: [UInt64?]

    /// - Parameters:
    ///   - shapes: Of the indexes of the table.
    init(
        _ old: DeltaRows?, _ new: DeltaRows, shapes: [IndexShape?], _ integers: IntegerForm,
        spill: @escaping () throws -> any SpillFile
    ) throws {
        var join = TreeJoin(old, new, leaves: .skipped)
        var matches = ContentMatches(spill: spill)
        var entries = shapes.map { $0.map { EntrySum($0, integers) } }
        var lastRowid: Int64 = 0
        func note(rowid: Int64, _ gaps: inout Int) {
            if rowid != lastRowid &+ 1 { gaps += 1 }
            lastRowid = rowid
        }
        while let step = try join.next() {
            if step == .sameLeaf {
                let common = join.common
                baseCount = join.commonPlaces.old + common.count
                note(rowid: common.firstRowid, &gaps)
                if common.lastRowid &- common.firstRowid != Int64(common.count - 1) { gaps += 1 }
                lastRowid = common.lastRowid
                continue
            }
            if step != .new { baseCount = join.old.place + 1 }
            if step != .old { note(rowid: join.new.row.rowid, &gaps) }
            guard step != .same else { continue }
            hasChanges = true
            if step != .new {
                try matches.add(old: join.old)
                values.add(join.old)
                for index in entries.indices { entries[index]?.subtract(join.old.row) }
            }
            if step != .old {
                try matches.add(new: join.new)
                for index in entries.indices { entries[index]?.add(join.new.row) }
            }
        }
        runs = try matches.runs()
        values.sort()
        sums = entries.map { $0?.sum }
    }

    /// Whether rowids are said to count up.
    var countsRowids: Bool { !runs.isEmpty && gaps <= runs.count }
}

/// What the entries of an index come to, row by row, in any order.
struct EntrySum {
    private let shape: IndexShape
    private let integers: IntegerForm
    private var header: [UInt8] = []
    private var total: UInt64 = 0
    private var isWhole = true

    init(_ shape: IndexShape, _ integers: IntegerForm) {
        self.shape = shape
        self.integers = integers
    }

    /// `nil` if a row has not all values.
    var sum: UInt64? { isWhole ? total : nil }

    mutating func add(_ row: DeltaRow) { if let hash = hash(row) { total &+= hash } }

    mutating func subtract(_ row: DeltaRow) { if let hash = hash(row) { total &-= hash } }

    private mutating func hash(_ row: DeltaRow) -> UInt64? {
        var columns = RecordColumns()
        var entry: [UInt8] = []
        guard isWhole, !row.isLong, columns.read(row.record.span),
            IndexEntry.append(
                of: row.record.span, columns, rowid: row.rowid, shape, integers, header: &header, to: &entry)
        else {
            isWhole = false
            return nil
        }
        return Self.hash(entry)
    }

    static func hash(_ entry: [UInt8]) -> UInt64 {
        var hasher = Hasher()
        entry.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
