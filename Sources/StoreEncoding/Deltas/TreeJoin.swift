import StoreFormat

/// Joins the rows of a tree with those of its base: finds the rows that both have, and those that one side has.
///
/// It matches rows of a table by their rowids, and entries of an index if they are equal. Both sides have the same order.
struct TreeJoin: RowSteps {
    private var oldSide: JoinSide
    private var newSide: JoinSide
    private let kind: TreeKind
    private let skipsLeaves: Bool
    private var isNewDue = false

    private(set) var common = (count: 0, firstRowid: Int64(0), lastRowid: Int64(0))
    private(set) var commonPlaces = (old: 0, new: 0)

    private(set) var old = DeltaRow()
    private(set) var new = DeltaRow()

    /// - Parameter skipsLeaves: Whether a leaf that both sides have is one step.
    init(_ old: DeltaRows?, _ new: DeltaRows, skipsLeaves: Bool) {
        kind = new.kind
        self.skipsLeaves = skipsLeaves
        oldSide = JoinSide(old)
        newSide = JoinSide(new)
    }

    mutating func next() throws -> RowStep? {
        if skipsLeaves, try oldSide.skipCommonLeaf(with: &newSide, &common, &commonPlaces) { return .sameLeaf }
        let (hasOld, hasNew) = (try oldSide.fill(1), try newSide.fill(1))
        guard hasOld || hasNew else { return nil }
        guard hasOld, hasNew else { return hasOld ? takeOld() : takeNew() }
        let isEqual = oldSide.first.hasSameRecord(as: newSide.first)
        if kind == .table {
            let (first, second) = (oldSide.first.rowid, newSide.first.rowid)
            if first != second { return first < second ? takeOld() : takeNew() }
            old = oldSide.take()
            new = newSide.take()
            return isEqual ? .same : .changed
        }
        if isEqual {
            old = oldSide.take()
            new = newSide.take()
            isNewDue = false
            return .same
        }
        // A row that is not among the rows read ahead of the other side counts as missing there.
        _ = try oldSide.fill(.max)
        _ = try newSide.fill(.max)
        if newSide.holds(oldSide.first) {
            // With one order this cannot happen for both; for damaged trees any choice makes progress.
            return oldSide.holds(newSide.first) ? takeOld() : takeNew()
        }
        // The old and the new state of a changed row are near each other, so the sides take turns, the old one first.
        isNewDue.toggle()
        return isNewDue || oldSide.holds(newSide.first) ? takeOld() : takeNew()
    }

    private mutating func takeOld() -> RowStep {
        old = oldSide.take()
        return .old
    }

    private mutating func takeNew() -> RowStep {
        new = newSide.take()
        return .new
    }
}

/// One side of a join, and its rows that have been read ahead.
private struct JoinSide {
    /// Most rows that are read ahead.
    private static let window = 512
    /// Most bytes that are read ahead.
    private static let windowSize = 2 << 20

    private var rows: DeltaRows?
    private var ahead: [DeltaRow] = []
    private var taken = 0
    private var bytes = 0
    private var hashes: [UInt64: Int] = [:]
    private var isHashing = false

    init(_ rows: DeltaRows?) { self.rows = rows }

    var first: DeltaRow { ahead[taken] }

    /// - Returns: Whether there was a common leaf. There is none while rows are read ahead.
    mutating func skipCommonLeaf(
        with other: inout JoinSide, _ common: inout (count: Int, firstRowid: Int64, lastRowid: Int64),
        _ places: inout (old: Int, new: Int)
    ) throws -> Bool {
        guard taken == ahead.count, other.taken == other.ahead.count, var rows, var otherRows = other.rows else {
            return false
        }
        self.rows = nil
        other.rows = nil
        defer { (self.rows, other.rows) = (rows, otherRows) }
        places = (rows.position, otherRows.position)
        guard let leaf = try rows.skipCommonLeaf(with: &otherRows) else { return false }
        common = (leaf.count, leaf.rowids.first, leaf.rowids.last)
        return true
    }

    /// Reads ahead.
    ///
    /// - Returns: Whether there is a row.
    mutating func fill(_ count: Int) throws -> Bool {
        if count > 1, !isHashing {
            isHashing = true
            for row in ahead[taken...] { hashes[row.hash, default: 0] += 1 }
        }
        while ahead.count - taken < min(count, Self.window), bytes < Self.windowSize || ahead.count == taken {
            guard let row = try read() else { break }
            if isHashing { hashes[row.hash, default: 0] += 1 }
            bytes += row.record.count
            ahead.append(row)
        }
        return ahead.count > taken
    }

    private mutating func read() throws -> DeltaRow? {
        guard var rows else { return nil }
        var row = DeltaRow()
        guard try rows.next(&row) else {
            self.rows = nil
            return nil
        }
        if row.isLong {
            var hasher = Hasher()
            // A long row that would have to be converted cannot be copied: its hash must match none.
            if rows.isConverting { hasher.combine(row.place) }
            try rows.forEachPiece { $0.withUnsafeBufferPointer { hasher.combine(bytes: UnsafeRawBufferPointer($0)) } }
            row.longHash = UInt64(truncatingIfNeeded: hasher.finalize())
        }
        self.rows = rows
        return row
    }

    func holds(_ row: DeltaRow) -> Bool { hashes[row.hash] != nil }

    mutating func take() -> DeltaRow {
        let row = ahead[taken]
        taken += 1
        bytes -= row.record.count
        if isHashing {
            let hash = row.hash
            if let count = hashes[hash] { hashes[hash] = count > 1 ? count - 1 : nil }
        }
        if taken == ahead.count {
            ahead.removeAll(keepingCapacity: true)
            taken = 0
            hashes.removeAll(keepingCapacity: true)
            isHashing = false
        } else if taken >= Self.window {
            ahead.removeFirst(taken)
            taken = 0
        }
        return row
    }
}
