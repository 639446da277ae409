import StoreFormat

/// The entries of an index that follow from the rows of its table: their number, and the sum of their hashes, which does not depend on
/// their order. Entries of the rows are added, and those that the index has are taken away.
///
/// Each process has its own hash key, so that entries cannot be made to collide. Even so the sum only suggests that an index can be
/// derived: the self-check and the SHA-256 decide.
struct ExpectedEntries {
    let shape: IndexShape
    /// Whether each row so far has all values of the index.
    private(set) var isComplete = true
    private(set) var count = 0
    private(set) var sum: UInt64 = 0
    private var header: [UInt8] = []
    private var entry: [UInt8] = []
    private let order: IndexOrder
    /// The entry of the index that was taken last.
    private var last: [UInt8] = []
    private var isAnyTaken = false

    init(_ shape: IndexShape) {
        self.shape = shape
        order = IndexOrder(shape)
    }

    /// Whether the index has had exactly these entries.
    var areAllTaken: Bool { count == 0 && sum == 0 }

    /// Takes the next entry that the index has.
    ///
    /// - Returns: Whether it may be one of these: it sorts after the entry before it, and there are not more than were added.
    mutating func take(_ entry: [UInt8]) -> Bool {
        if isAnyTaken {
            let last = last
            guard order.compare(last.span, entry.span) < 0 else { return false }
        }
        isAnyTaken = true
        last.removeAll(keepingCapacity: true)
        last += entry
        count -= 1
        sum &-= entry.withUnsafeBytes { $0.keyedHash }
        return count >= 0
    }

    mutating func add(_ row: Span<UInt8>, _ columns: RecordColumns, rowid: Int64, _ integers: IntegerForm) {
        guard let hash = hash(row, columns, rowid: rowid, integers) else { return }
        count += 1
        sum &+= hash
    }

    mutating func add(_ row: DeltaRow, _ integers: IntegerForm) {
        guard let hash = hash(row, integers) else { return }
        count += 1
        sum &+= hash
    }

    mutating func remove(_ row: DeltaRow, _ integers: IntegerForm) {
        guard let hash = hash(row, integers) else { return }
        count -= 1
        sum &-= hash
    }

    private mutating func hash(_ row: DeltaRow, _ integers: IntegerForm) -> UInt64? {
        var columns = RecordColumns()
        guard isComplete, !row.isLong, columns.read(row.record.span) else {
            isComplete = false
            return nil
        }
        return hash(row.record.span, columns, rowid: row.rowid, integers)
    }

    private mutating func hash(
        _ row: Span<UInt8>, _ columns: RecordColumns, rowid: Int64, _ integers: IntegerForm
    ) -> UInt64? {
        guard isComplete else { return nil }
        entry.removeAll(keepingCapacity: true)
        guard shape.appendEntry(of: row, columns, rowid: rowid, integers, header: &header, to: &entry) else {
            isComplete = false
            return nil
        }
        return entry.withUnsafeBytes { $0.keyedHash }
    }
}

extension IndexShape {
    /// Whether the entries of an index are exactly those that follow from the rows of its table, in the order in which a consumer would sort
    /// them.
    ///
    /// - Parameters:
    ///   - entries: At the first one. The loop ends without a note of pages, as the entries must rise and be no more than the rows.
    ///   - rows: At the first one.
    func follows(_ entries: TreeReader, from rows: TreeReader, _ settings: StoreSettings) throws -> Bool {
        guard settings.textEncoding <= 1 || isBinary else { return false }
        var (rows, entries, expected, row) = (rows, entries, ExpectedEntries(self), IndexedRow())
        while expected.isComplete, let cell = try rows.next() {
            guard try row.read(cell, from: rows) else { return false }
            let (record, columns) = (row.record, row.columns)
            expected.add(record.span, columns, rowid: cell.rowid, settings.integers)
        }
        guard expected.isComplete else { return false }
        var entry: [UInt8] = []
        while let cell = try entries.next() {
            guard cell.payloadSize <= Self.longestEntry else { return false }
            entry.removeAll(keepingCapacity: true)
            try entries.appendRecord(of: cell, to: &entry)
            guard expected.take(entry) else { return false }
        }
        return expected.areAllTaken
    }
}
