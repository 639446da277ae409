import StoreFormat

/// Rows that are in the base under other keys: found by the hashes of their records, which are sorted beside each other.
///
/// Memory: what an `EntrySorter` takes, and twelve bytes for each run.
struct ContentMatches {
    /// Rows of the result that come one after the other in the base too.
    struct Run: Hashable {
        /// Places of the first row.
        let new: UInt32
        let old: UInt32
        var count: UInt32
        /// Of all rows, in bytes.
        var size: UInt64
    }

    private static let mostRuns = 1 << 20
    /// Rows of one hash.
    private static let mostEqual = 1 << 20
    /// A run of fewer rows with fewer bytes is as likely to be chance.
    private static let (leastCount, leastSize): (UInt32, UInt64) = (3, 24)

    private enum Side {
        static let old: Int64 = 0
        static let new: Int64 = 1
    }

    private var sorter: EntrySorter
    private let spill: () throws -> any SpillFile
    private var (oldCount, newCount) = (0, 0)

    init(spill: @escaping () throws -> any SpillFile) {
        self.spill = spill
        sorter = Self.makeSorter(spill)
    }

    private static func makeSorter(_ spill: @escaping () throws -> any SpillFile) -> EntrySorter {
        EntrySorter(IndexShape((0..<3).map { IndexShape.Part(.value($0)) }), runSize: 2 << 20, spill: spill)
    }

    mutating func add(old row: JoinRow) throws {
        oldCount += 1
        try add(row, Side.old)
    }

    mutating func add(new row: JoinRow) throws {
        newCount += 1
        try add(row, Side.new)
    }

    private mutating func add(_ row: JoinRow, _ side: Int64) throws {
        let size = Int64(min(row.row.size, 1 << 20))
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

    /// The runs, in the order of the result's rows.
    mutating func runs() throws -> [Run] {
        guard oldCount > 0, newCount > 0 else { return [] }
        var pairs = Self.makeSorter(spill)
        var (hash, olds, next): (Int64, [UInt32], Int) = (0, [], 0)
        try sorter.drain { entry in
            let numbers = Self.numbers(entry)
            guard numbers.count == 4 else { return }
            if numbers[0] != hash { (hash, olds, next) = (numbers[0], [], 0) }
            if numbers[1] == Side.old {
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

/// Rows of the base that are not in the result, by the texts and blobs in them.
struct ValueMatches {
    private static let most = 1 << 18
    private static let shortest = 6
    /// Rows that are looked at for one value.
    private static let reach = 4

    private var keys: [(hash: UInt64, place: UInt32)] = []
    private var isSorted = true

    mutating func add(_ row: JoinRow) {
        guard keys.count < Self.most, let values = DeltaValue.values(of: row.row.record) else { return }
        for value in values {
            guard let string = value.string, string.count >= Self.shortest else { continue }
            keys.append((Self.hash(string), UInt32(truncatingIfNeeded: row.place)))
        }
        isSorted = false
    }

    mutating func sort() {
        guard !isSorted else { return }
        keys.sort { $0.hash == $1.hash ? $0.place < $1.place : $0.hash < $1.hash }
        isSorted = true
    }

    private static func hash(_ string: ArraySlice<UInt8>) -> UInt64 {
        var hasher = Hasher()
        string.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// Rows that share a value with a row, those next to a place first.
    func places(sharing values: [DeltaValue], near place: Int) -> [Int] {
        var found: Set<Int> = []
        for value in values {
            guard let string = value.string, string.count >= Self.shortest else { continue }
            let hash = Self.hash(string)
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                let key = keys[middle]
                if key.hash < hash || key.hash == hash && Int(key.place) < place {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            for index in max(0, low - Self.reach / 2)..<min(keys.count, low + Self.reach / 2)
            where keys[index].hash == hash {
                found.insert(Int(keys[index].place))
            }
        }
        return found.sorted { abs($0 - place) < abs($1 - place) }
    }
}
