import StoreFormat

/// The rows of a tree beside those of its base: which are the same, and which only one of them has.
///
/// Rows of a table are matched by their rowids, entries by being equal; those are in the same order in both.
struct TreeJoin {
    enum Step: Hashable {
        /// A row that both have.
        case same
        /// A rowid that both have, with other values.
        case changed
        /// A row of the base alone.
        case old
        /// A row of the result alone.
        case new
        /// `common` rows that both have.
        case sameLeaf
    }

    /// Whether leaves that are the same are passed over at once.
    enum Leaves: Hashable {
        case skipped
        case read
    }

    private var oldSide: JoinSide
    private var newSide: JoinSide
    private let kind: TreeKind
    private let leaves: Leaves
    private var isNewDue = false

    /// What `sameLeaf` is about: the first row is at these places.
    private(set) var common = PlacedRows.CommonRows.none
    private(set) var commonPlaces = (old: 0, new: 0)

    /// What the last step was about, as far as it is about it.
    private(set) var old = JoinRow()
    private(set) var new = JoinRow()

    init(_ old: DeltaRows?, _ new: DeltaRows, leaves: Leaves) {
        kind = new.kind
        self.leaves = leaves
        oldSide = JoinSide(old)
        newSide = JoinSide(new)
    }

    mutating func next() throws -> Step? {
        if leaves == .skipped, try oldSide.skipCommonLeaf(with: &newSide, &common, &commonPlaces) { return .sameLeaf }
        let (hasOld, hasNew) = (try oldSide.fill(1), try newSide.fill(1))
        guard hasOld || hasNew else { return nil }
        guard hasOld, hasNew else { return hasOld ? takeOld() : takeNew() }
        let isEqual = oldSide.first.isEqual(to: newSide.first)
        if kind == .table {
            let (first, second) = (oldSide.first.row.rowid, newSide.first.row.rowid)
            if first != second { return first < second ? takeOld() : takeNew() }
            old = oldSide.take()
            new = newSide.take()
            return isEqual ? .same : .changed
        }
        if isEqual {
            old = oldSide.take()
            new = newSide.take()
            return .same
        }
        // What the other side has not within reach it does not have.
        _ = try oldSide.fill(.max)
        _ = try newSide.fill(.max)
        if newSide.holds(oldSide.first) {
            // In one order both cannot be behind the other; whatever this is, it goes on.
            return oldSide.holds(newSide.first) ? takeOld() : takeNew()
        }
        // A row that changed has its two states at about the same place: they are told in turns.
        isNewDue.toggle()
        return isNewDue || oldSide.holds(newSide.first) ? takeOld() : takeNew()
    }

    private mutating func takeOld() -> Step {
        old = oldSide.take()
        return .old
    }

    private mutating func takeNew() -> Step {
        new = newSide.take()
        return .new
    }
}

/// A row, where it is, and the hash of its record.
struct JoinRow {
    var row = DeltaRow()
    var place = 0
    /// Of the record's bytes, keyed anew in each process; of a short one only once it is asked for.
    private var longHash: UInt64 = 0

    init() {}

    init(_ row: DeltaRow, place: Int, longHash: UInt64) {
        self.row = row
        self.place = place
        self.longHash = longHash
    }

    var hash: UInt64 {
        guard !row.isLong else { return longHash }
        var hasher = Hasher()
        row.record.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    func isEqual(to other: JoinRow) -> Bool {
        row.size == other.row.size && longHash == other.longHash && row.record == other.row.record
    }
}

/// One side of a join, and the rows of it that have been read ahead.
private struct JoinSide {
    /// Rows that are looked at together.
    private static let window = 512
    /// Bytes of them.
    private static let windowSize = 2 << 20

    private var rows: DeltaRows?
    private var ahead: [JoinRow] = []
    private var taken = 0
    private var bytes = 0
    private var hashes: [UInt64: Int] = [:]
    private var isHashing = false

    init(_ rows: DeltaRows?) { self.rows = rows }

    var first: JoinRow { ahead[taken] }

    /// - Returns: Whether there was one, of which no row has been read yet.
    mutating func skipCommonLeaf(
        with other: inout JoinSide, _ common: inout PlacedRows.CommonRows, _ places: inout (old: Int, new: Int)
    ) throws -> Bool {
        guard taken == ahead.count, other.taken == other.ahead.count, var rows, var otherRows = other.rows else {
            return false
        }
        self.rows = nil
        other.rows = nil
        defer { (self.rows, other.rows) = (rows, otherRows) }
        places = (rows.position, otherRows.position)
        guard let found = try rows.skipCommonLeaf(with: &otherRows) else { return false }
        common = found
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
            bytes += row.row.record.count
            ahead.append(row)
        }
        return ahead.count > taken
    }

    private mutating func read() throws -> JoinRow? {
        guard var rows else { return nil }
        var row = DeltaRow()
        let place = rows.position
        guard try rows.next(&row) else {
            self.rows = nil
            return nil
        }
        var longHash: UInt64 = 0
        if row.isLong {
            var hasher = Hasher()
            // A long row of another form is none that could be copied.
            if rows.isConverting { hasher.combine(place) }
            try rows.forEachPiece { $0.withUnsafeBufferPointer { hasher.combine(bytes: UnsafeRawBufferPointer($0)) } }
            longHash = UInt64(truncatingIfNeeded: hasher.finalize())
        }
        self.rows = rows
        return JoinRow(row, place: place, longHash: longHash)
    }

    func holds(_ row: JoinRow) -> Bool { hashes[row.hash] != nil }

    mutating func take() -> JoinRow {
        let row = ahead[taken]
        taken += 1
        bytes -= row.row.record.count
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
