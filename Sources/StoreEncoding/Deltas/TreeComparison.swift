import StoreFormat

/// How a tree differs from its base. It is the first of two passes over all rows.
struct TreeComparison {
    private(set) var hasChanges = false
    /// Whether a row of the base that is not in the result is long.
    private(set) var hasLongRowsGone = false
    /// Rows that both have.
    private var commonRows = 0
    /// Numbers of the indexes that new rows are of, if the tree has the leaves of full-text indexes.
    private(set) var indexesOfLeaves: Set<Int64> = []
    private static let mostIndexesOfLeaves = 1024
    /// Rows that the base has under other keys.
    private(set) var runs: [ContentMatches.Run] = []
    /// Whether rows of the base are used in their order only.
    private(set) var isForward = true
    /// Rows of the base that are not in the result.
    private(set) var values = ValueMatches()
    /// Rows whose rowid is not the successor of that of the row before.
    private var gaps = 0
    /// Rows of the base.
    private(set) var baseCount = 0
    private var newCount = 0
    /// For each index: the sum of the hashes of its entries less that of the base, as it follows from the rows; `nil` where it does
    /// not.
    private(set) var sums: [UInt64?]

    /// - Parameters:
    ///   - shapes: Of the indexes of the table.
    init(
        _ old: DeltaRows?, _ new: DeltaRows, shapes: [IndexShape?], _ integers: IntegerForm,
        spill: @escaping () throws -> any SpillFile
    ) throws {
        var join = TreeJoin(old, new, skipsLeaves: true)
        var matches = ContentMatches(spill: spill)
        var entries = shapes.map { $0.map(ExpectedEntries.init) }
        var lastRowid: Int64 = 0
        func note(rowid: Int64, _ gaps: inout Int) {
            if rowid != lastRowid &+ 1 { gaps += 1 }
            lastRowid = rowid
        }
        while let step = try join.next() {
            if step == .same { commonRows += 1 }
            if step == .sameLeaf {
                let common = join.common
                commonRows += common.count
                newCount = join.commonPlaces.new + common.count
                baseCount = join.commonPlaces.old + common.count
                note(rowid: common.firstRowid, &gaps)
                if common.lastRowid &- common.firstRowid != Int64(common.count - 1) { gaps += 1 }
                lastRowid = common.lastRowid
                continue
            }
            if step != .new { baseCount = join.old.place + 1 }
            if step != .old {
                note(rowid: join.new.rowid, &gaps)
                newCount = join.new.place + 1
            }
            guard step != .same else { continue }
            hasChanges = true
            if step != .new {
                if join.old.isLong { hasLongRowsGone = true }
                try matches.add(old: join.old)
                values.add(join.old)
                for index in entries.indices { entries[index]?.remove(join.old, integers) }
            }
            if step != .old {
                if indexesOfLeaves.count < Self.mostIndexesOfLeaves, let index = FullTextPages.index(of: join.new.rowid)
                {
                    indexesOfLeaves.insert(index)
                }
                try matches.add(new: join.new)
                values.look(for: join.new)
                for index in entries.indices { entries[index]?.add(join.new, integers) }
            }
        }
        runs = try matches.runs()
        commonRows += runs.reduce(0) { $0 + Int($1.count) }
        values.sort()
        isForward = runs.isEmpty && !values.areInOtherOrder
        sums = entries.map { $0.flatMap { $0.isComplete ? $0.sum : nil } }
    }

    /// A tree of whose base with so many rows none are known but those that it has itself.
    init(overUnknown count: Int) {
        (baseCount, hasChanges, sums) = (count, true, [])
    }

    /// A table that has the rows of its base, and so many indexes.
    init(unchangedWith indexes: Int) { sums = Array(repeating: nil, count: indexes) }

    /// Whether at least half of the rows are in the base.
    var hasMostRows: Bool { 2 * commonRows >= newCount }

    /// Whether each rowid is by default the successor of the one before.
    var countsRowids: Bool { !isForward && gaps <= max(1, runs.count) }
}

/// Finds rows that the base has under other keys: it sorts the hashes of the records of both sides together.
///
/// Memory: what an `EntrySorter` takes, and twelve bytes for each run.
struct ContentMatches {
    /// Consecutive rows of the result that are consecutive in the base, too.
    struct Run: Hashable {
        /// Places of the first row.
        let new: UInt32
        let old: UInt32
        var count: UInt32
        /// Of all rows, in bytes.
        var size: UInt64
    }

    private static let mostRuns = 1 << 20
    /// Most rows of one hash.
    private static let mostEqual = 1 << 20
    /// A run with both fewer rows and fewer bytes is as likely to be chance.
    private static let (leastCount, leastSize): (UInt32, UInt64) = (3, 24)

    /// The numbers for the side of a row.
    private static let (old, new): (Int64, Int64) = (0, 1)

    private var sorter: EntrySorter
    private let spill: () throws -> any SpillFile
    private var (oldCount, newCount) = (0, 0)

    init(spill: @escaping () throws -> any SpillFile) {
        self.spill = spill
        sorter = Self.makeSorter(spill)
    }

    private static func makeSorter(_ spill: @escaping () throws -> any SpillFile) -> EntrySorter {
        EntrySorter(IndexShape((0..<3).map { IndexShape.Part($0) }), runSize: 2 << 20, spill: spill)
    }

    mutating func add(old row: DeltaRow) throws {
        oldCount += 1
        try add(row, Self.old)
    }

    mutating func add(new row: DeltaRow) throws {
        newCount += 1
        try add(row, Self.new)
    }

    private mutating func add(_ row: DeltaRow, _ side: Int64) throws {
        let size = Int64(min(row.size, 1 << 20))
        try Self.add([Int64(bitPattern: row.hash), side, Int64(row.place), size], to: &sorter)
    }

    private static func add(_ numbers: [Int64], to sorter: inout EntrySorter) throws {
        let record = DeltaValue.record(of: numbers.map { .integer($0) }, .modern)
        _ = try sorter.add { bytes in
            bytes += record
            return true
        }
    }

    private static func numbers(_ entry: Span<UInt8>) -> [Int64] {
        let values = entry.withUnsafeBufferPointer { DeltaValue.values(of: Array($0)) } ?? []
        return values.map { value in
            if case .integer(let number) = value { return number }
            return 0
        }
    }

    /// The runs, in the order of the rows of the result.
    mutating func runs() throws -> [Run] {
        guard oldCount > 0, newCount > 0 else { return [] }
        var pairs = Self.makeSorter(spill)
        var (hash, olds, next): (Int64, [UInt32], Int) = (0, [], 0)
        try sorter.drain { entry in
            let numbers = Self.numbers(entry)
            guard numbers.count == 4 else { return }
            if numbers[0] != hash { (hash, olds, next) = (numbers[0], [], 0) }
            if numbers[1] == Self.old {
                if olds.count < Self.mostEqual { olds.append(UInt32(truncatingIfNeeded: numbers[2])) }
            } else if next < olds.count {
                try Self.add([numbers[2], Int64(olds[next]), numbers[3]], to: &pairs)
                next += 1
            }
        }
        var runs: [Run] = []
        func isKept(_ run: Run) -> Bool { run.count >= Self.leastCount || run.size >= Self.leastSize }
        try pairs.drain { entry in
            let numbers = Self.numbers(entry)
            guard numbers.count == 3, runs.count < Self.mostRuns else { return }
            let (new, old) = (UInt32(truncatingIfNeeded: numbers[0]), UInt32(truncatingIfNeeded: numbers[1]))
            let size = UInt64(numbers[2])
            if let last = runs.last, last.new + last.count == new, last.old + last.count == old {
                runs[runs.count - 1].count += 1
                runs[runs.count - 1].size += size
            } else {
                if let last = runs.last, !isKept(last) { runs.removeLast() }
                runs.append(Run(new: new, old: old, count: 1, size: size))
            }
        }
        if let last = runs.last, !isKept(last) { runs.removeLast() }
        return runs
    }
}

/// Finds rows of the base that are not in the result by their texts, blobs and large numbers: by as many of these as there is room for, which
/// are in other columns from row to row.
struct ValueMatches {
    private static let most = 1 << 18
    /// Of rows that have a value in common most tell little: a value of more rows only counts where others are as good.
    private static let fewRows = 8
    /// Most rows that are found for the values of one row, and for a value of many rows, to either side.
    private static let (mostFound, reach) = (4, 2)
    /// Of the new rows that are found, the part from which on it pays to go back for them.
    private static let otherOrder = 8

    private var keys: [(hash: UInt64, place: UInt32, column: UInt32)] = []
    /// Bits that are 0 in the sums of a place and a column that are noted.
    private var mask: UInt32 = 0
    private var isSorted = true
    /// One for each new row, as long as there is room: of its longest value.
    private var wanted: [UInt64] = []

    mutating func add(_ row: DeltaRow) {
        guard let values = DeltaValue.values(of: row.record) else { return }
        let place = UInt32(truncatingIfNeeded: row.place)
        for (column, value) in zip(0..<UInt32(values.count), values) where (place &+ column) & mask == 0 {
            if let key = value.key { keys.append((key, place, column)) }
        }
        isSorted = false
        while keys.count > Self.most {
            mask = mask << 1 | 1
            let mask = mask
            keys.removeAll { ($0.place &+ $0.column) & mask != 0 }
        }
    }

    mutating func look(for row: DeltaRow) {
        guard wanted.count < Self.most, !row.isLong,
            let value = DeltaValue.values(of: row.record)?.max(by: { $0.cost < $1.cost }), let key = value.key
        else { return }
        wanted.append(key)
    }

    mutating func sort() {
        guard !isSorted else { return }
        keys.sort { $0.hash == $1.hash ? $0.place < $1.place : $0.hash < $1.hash }
        isSorted = true
    }

    /// Whether the new rows are like rows of the base, most of them, and these come in another order.
    var areInOtherOrder: Bool {
        var (found, steps, last) = (0, 0, 0)
        for key in wanted {
            let index = first(key, from: 0)
            guard index < keys.count, keys[index].hash == key else { continue }
            found += 1
            if Int(keys[index].place) < last { steps += 1 }
            last = Int(keys[index].place)
        }
        return 2 * found * (Int(mask) + 1) >= wanted.count && steps * Self.otherOrder > found
    }

    /// The first key with a hash, from a place on.
    private func first(_ hash: UInt64, from place: Int) -> Int {
        keys.indices.first(notBefore: { (keys[$0].hash, Int(keys[$0].place)) < (hash, place) })
    }

    /// The places of rows that share a value with `values`: first those that share most of what few rows have, in bytes, then the
    /// nearest to `place`. Where not all values are noted, `place` comes before them: it is the next one of rows that keep their order.
    ///
    /// - Parameter range: Of the places.
    func places(sharing values: [DeltaValue], near place: Int, in range: Range<Int>) -> [Int] {
        var counts: [Int: Int] = [:]
        for value in values {
            guard let hash = value.key else { continue }
            var holders = first(hash, from: range.lowerBound)..<keys.count
            let isOfMany = holders.count > Self.fewRows && keys[holders.lowerBound + Self.fewRows].hash == hash
            if isOfMany {
                let nearest = first(hash, from: place)
                holders = max(holders.lowerBound, nearest - Self.reach)..<min(keys.count, nearest + Self.reach)
            }
            for key in keys[holders].prefix(Self.fewRows).prefix(while: { $0.hash == hash })
            where range.contains(Int(key.place)) {
                counts[Int(key.place), default: 0] += isOfMany ? 1 : value.cost
            }
        }
        // In the same order in each process: another session may go on.
        let found = counts.sorted {
            ($1.value, abs($0.key - place), $0.key) < ($0.value, abs($1.key - place), $1.key)
        }
        return (mask != 0 && range.contains(place) ? [place] : []) + found.prefix(Self.mostFound).map(\.key)
    }
}
