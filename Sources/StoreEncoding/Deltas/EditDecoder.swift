import ShipCompression

/// Decodes edited rows, one after the other.
///
/// Source: `Protocol/DELTA.md` section 5.
struct EditDecoder {
    private let counts: [Int64]?
    private let sets: [[Int]]
    /// Empty if there is only one set.
    private let ids: [Int64]
    private var columns: [Int: EditedColumn] = [:]
    private var next = 0

    static let none = EditDecoder()

    private init() { (counts, sets, ids) = (nil, [], []) }

    /// - Parameters:
    ///   - count: Rows; at least 1.
    ///   - changesCounts: Whether a row has another number of columns than before.
    init(_ count: Int, changesCounts: Bool, from source: inout SegmentReader) throws(CompressionError) {
        let plain = ColumnDecoder(rowids: nil)
        counts = changesCounts ? try plain.integers(count, from: &source) : nil
        let setCount = try source.control.count(limit: min(count, SegmentLimits.sets))
        guard setCount > 0 else { throw .damaged(.segment) }
        var sets: [[Int]] = []
        var columnsLeft = SegmentLimits.setColumns
        for _ in 0..<setCount {
            let size = try source.control.count(limit: min(SegmentLimits.columns, columnsLeft))
            columnsLeft -= size
            var (set, last) = ([Int](), -1)
            for _ in 0..<size {
                last += 1 + (try source.control.count(limit: SegmentLimits.columns))
                guard last < SegmentLimits.columns else { throw .damaged(.segmentLimit) }
                set.append(last)
            }
            sets.append(set)
        }
        self.sets = sets
        let ids = setCount > 1 ? try plain.integers(count, from: &source) : []
        guard ids.allSatisfy({ $0 >= 0 && $0 < setCount }) else { throw .damaged(.segment) }
        self.ids = ids
        var setCounts = [Int](repeating: 0, count: setCount)
        if setCount == 1 { setCounts[0] = count }
        for id in ids { setCounts[Int(id)] += 1 }
        var rows: [Int: Int] = [:]
        for (set, number) in zip(sets, setCounts) {
            for column in set { rows[column, default: 0] += number }
        }
        guard rows.values.reduce(0, +) <= SegmentLimits.editedValues else { throw .damaged(.segmentLimit) }
        var shared = ColumnDecoder(rowids: nil)
        for column in rows.keys.sorted() {
            columns[column] = try EditedColumn(rows[column] ?? 0, of: count, &shared, from: &source)
        }
    }

    /// Makes the next row from its values in the base.
    mutating func apply(to old: [DeltaValue]) throws(CompressionError) -> [DeltaValue] {
        let change = counts.map { $0[next] } ?? 0
        guard let count = Int(exactly: Int64(old.count) &+ change), (0...SegmentLimits.columns).contains(count) else {
            throw .damaged(.rows)
        }
        var new = Array(old.prefix(count))
        while new.count < count { new.append(.null) }
        for column in sets[ids.isEmpty ? 0 : Int(ids[next])] {
            guard column < count else { throw .damaged(.rows) }
            new[column] = try columns[column]?.apply(to: column < old.count ? old[column] : .null) ?? .null
        }
        next += 1
        return new
    }
}

/// The edits of one column, in the order of the rows.
private struct EditedColumn {
    /// One for each row; empty if all are `method`.
    private var methods: [Int64] = []
    private var method: EditMethod?
    private var row = 0
    private var whole = ColumnValues()
    private var ordinals: [Int32] = []
    private var differences: [Int64] = []
    private var sums: [UInt64] = []
    private var (fromEnd, fromStart): (Splices, Splices)
    /// How many edits of each method were applied.
    private var taken = [Int](repeating: 0, count: EditMethod.allCases.count)

    private typealias Splices = (kept: [Int64], removed: [Int64], inserted: Strings)

    init(
        _ count: Int, of rows: Int, _ shared: inout ColumnDecoder, from source: inout SegmentReader
    ) throws(CompressionError) {
        let mask = try source.control.byte()
        guard mask > 0, mask < 1 << UInt8(EditMethod.allCases.count), count > 0 else { throw .damaged(.segment) }
        let plain = ColumnDecoder(rowids: nil)
        var counts = [Int](repeating: 0, count: EditMethod.allCases.count)
        if mask.nonzeroBitCount > 1 {
            methods = try plain.integers(count, from: &source)
            for method in methods {
                guard method >= 0, method < Int64(counts.count), mask & (1 << UInt8(method)) != 0 else {
                    throw .damaged(.segment)
                }
                counts[Int(method)] += 1
            }
        } else {
            method = EditMethod(rawValue: mask.trailingZeroBitCount)
            counts[mask.trailingZeroBitCount] = count
        }
        if mask & EditMethod.whole.bit != 0 {
            let number = counts[EditMethod.whole.rawValue]
            if number == rows {
                try shared.decodeColumn(number, isInAllRows: true, from: &source)
                whole = shared.columns[shared.columns.count - 1]
            } else {
                var alone = plain
                try alone.decodeColumn(number, isInAllRows: true, from: &source)
                whole = alone.columns[0]
            }
            ordinals = whole.ordinals()
        }
        differences = try plain.integers(counts[EditMethod.difference.rawValue], from: &source)
        sums = try plain.reals(counts[EditMethod.sum.rawValue], from: &source)
        func splices(_ method: EditMethod) throws(CompressionError) -> Splices {
            let count = counts[method.rawValue]
            return (
                try plain.integers(count, from: &source), try plain.integers(count, from: &source),
                try plain.strings(count, from: &source)
            )
        }
        fromEnd = try splices(.fromEnd)
        fromStart = try splices(.fromStart)
    }

    mutating func apply(to old: DeltaValue) throws(CompressionError) -> DeltaValue {
        guard let method = method ?? EditMethod(rawValue: Int(methods[row])) else { throw .damaged(.segment) }
        row += 1
        let index = taken[method.rawValue]
        taken[method.rawValue] += 1
        switch method {
        case .whole: return whole.value(index, Int(ordinals[index]))
        case .difference:
            guard case .integer(let integer) = old else { throw .damaged(.rows) }
            return .integer(integer &+ differences[index])
        case .sum:
            guard let number = old.number else { throw .damaged(.rows) }
            return EditMethod.sum(number, Double(bitPattern: sums[index]))
        case .fromEnd:
            guard let string = old.string else { throw .damaged(.rows) }
            let (kept, removed) = (fromEnd.kept[index], fromEnd.removed[index])
            guard kept >= 0, removed >= 0, kept <= Int64(string.count), removed <= Int64(string.count) - kept else {
                throw .damaged(.rows)
            }
            return try spliced(old, string.count - Int(kept) - Int(removed), removed, fromEnd.inserted[index])
        case .fromStart:
            return try spliced(
                old, Int(clamping: fromStart.kept[index]), fromStart.removed[index], fromStart.inserted[index])
        }
    }

    private func spliced(
        _ old: DeltaValue, _ before: Int, _ removed: Int64, _ inserted: ArraySlice<UInt8>
    ) throws(CompressionError) -> DeltaValue {
        guard let string = old.string,
            let new = Splice.apply(to: string, before: before, removed: Int(clamping: removed), inserted)
        else { throw .damaged(.rows) }
        if case .text = old { return .text(new) }
        return .blob(new)
    }
}
