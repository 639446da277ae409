import ShipCompression

/// How the new value of an edited row is made from the value in the base.
///
/// Source: `Protocol/DELTA.md` section 5.
enum EditMethod: Int, CaseIterable {
    /// The new value itself.
    case whole = 0
    /// The difference of two integers.
    case difference = 1
    /// A number that is added to the old one.
    case sum = 2
    /// A splice of a text or a blob; its place is counted from the end.
    case fromEnd = 3
    /// A splice whose place is counted from the start.
    case fromStart = 4

    var bit: UInt8 { 1 << UInt8(rawValue) }

    /// The sum of a number and another, as SQLite stores it in a column of the affinity REAL.
    static func sum(_ old: Double, _ addend: Double) -> DeltaValue {
        let bits = (old + addend).bitPattern
        if let whole = ColumnValues.whole(bits) { return .integer(whole) }
        return .real(bits)
    }

    /// The number with the fewest decimals that added to `old` gives `new`; `nil` if there is none.
    static func addend(from old: DeltaValue, to new: DeltaValue) -> Double? {
        guard let first = old.number, let second = new.number, first.isFinite, second.isFinite else { return nil }
        var scale = 1.0
        for _ in 0...6 {
            let scaled = ((second - first) * scale).rounded()
            guard abs(scaled) < 4_503_599_627_370_496 else { return nil }
            let addend = scaled / scale
            if sum(first, addend) == new { return addend }
            scale *= 10
        }
        return nil
    }
}

/// Encodes edited rows, column by column.
///
/// Source: `Protocol/DELTA.md` section 5.
struct EditEncoder {
    private(set) var olds: [[DeltaValue]] = []
    private(set) var news: [[DeltaValue]] = []

    var count: Int { olds.count }

    mutating func append(_ old: [DeltaValue], _ new: [DeltaValue]) {
        olds.append(old)
        news.append(new)
    }

    /// Whether a row has another number of columns than before.
    var changesCounts: Bool { zip(olds, news).contains { $0.count != $1.count } }

    /// Writes nothing if there are no rows.
    func write(_ effort: SegmentEffort, _ cost: TrialCost, into areas: inout SegmentAreas) {
        guard count > 0 else { return }
        let plain = ColumnEncoder(effort: effort, cost: cost)
        if changesCounts { plain.encode(zip(olds, news).map { Int64($1.count - $0.count) }, into: &areas) }
        let (sets, ids) = columnSets()
        areas.count(sets.count)
        for set in sets {
            areas.count(set.count)
            var last = -1
            for column in set {
                areas.count(column - last - 1)
                last = column
            }
        }
        if sets.count > 1 { plain.encode(ids, into: &areas) }
        var shared = ColumnEncoder(effort: effort, cost: cost)
        // Stands for the rowids: no column refers to them.
        shared.integerReferences.append(nil)
        shared.integerClasses.append(nil)
        for column in Set(sets.joined()).sorted() {
            let rows = ids.indices.filter { sets[Int(ids[$0])].contains(column) }
            write(column, of: rows, &shared, into: &areas)
        }
    }

    /// The sets of columns that change together, the most frequent first, and the index of each row's set.
    private func columnSets() -> (sets: [[Int]], ids: [Int64]) {
        var counts: [[Int]: Int] = [:]
        let changed = zip(olds, news).map { old, new in
            let columns = new.indices.filter { new[$0] != ($0 < old.count ? old[$0] : .null) }
            counts[columns, default: 0] += 1
            return columns
        }
        let sets = counts.sorted { left, right in
            left.value == right.value ? left.key.lexicographicallyPrecedes(right.key) : left.value > right.value
        }.map(\.key)
        let places = Dictionary(uniqueKeysWithValues: zip(sets, sets.indices))
        return (sets, changed.map { Int64(places[$0] ?? 0) })
    }

    // MARK: Columns

    private func old(_ row: Int, _ column: Int) -> DeltaValue {
        column < olds[row].count ? olds[row][column] : .null
    }

    private func write(
        _ column: Int, of rows: [Int], _ shared: inout ColumnEncoder, into areas: inout SegmentAreas
    ) {
        let numbers = rows.map { numberMethod($0, column) }
        let strings = rows.map { isSpliced($0, column) }
        var candidates = [[EditMethod](repeating: .whole, count: rows.count)]
        if numbers.contains(where: { $0 != .whole }) { candidates.append(numbers) }
        if strings.contains(true) {
            for method in [EditMethod.fromEnd, .fromStart] {
                candidates.append(strings.map { $0 ? method : .whole })
            }
        }
        let streams = rows.map { isStreamAgain($0, column, within: shared.cost) }
        if streams.contains(true) {
            // Its inflated content resembles that of the base, which a trial does not see.
            candidates = [[EditMethod](repeating: .whole, count: rows.count)]
        }
        var best: (cost: Int, areas: SegmentAreas, shared: ColumnEncoder)?
        for methods in candidates {
            var (trial, encoder) = (SegmentAreas(), shared)
            write(column, of: rows, methods, &encoder, into: &trial)
            let cost = shared.cost.of(trial)
            if cost < best?.cost ?? Int.max { best = (cost, trial, encoder) }
        }
        guard let best else { return }
        areas.append(best.areas)
        shared = best.shared
    }

    private func numberMethod(_ row: Int, _ column: Int) -> EditMethod {
        switch (old(row, column), news[row][column]) {
        case (.integer, .integer): .difference
        case (.integer, .real), (.real, .integer), (.real, .real):
            EditMethod.addend(from: old(row, column), to: news[row][column]) == nil ? .whole : .sum
        default: .whole
        }
    }

    private func splice(_ row: Int, _ column: Int) -> Splice? {
        switch (old(row, column), news[row][column]) {
        case (.text(let old), .text(let new)), (.blob(let old), .blob(let new)): Splice(from: old, to: new)
        default: nil
        }
    }

    /// Whether both blobs are deflate streams, so that their inflated contents can be compared.
    private func isStreamAgain(_ row: Int, _ column: Int, within cost: TrialCost) -> Bool {
        guard case .blob(let old) = old(row, column), case .blob(let new) = news[row][column],
            cost.streams.isStream(old), cost.streams.isStream(new)
        else { return false }
        return DeflateRepetition(of: new, limit: SegmentLimits.deflatedString) != nil
    }

    private func isSpliced(_ row: Int, _ column: Int) -> Bool {
        guard let splice = splice(row, column) else { return false }
        return splice.before + splice.after >= 3 || splice.inserted.isEmpty
    }

    private func write(
        _ column: Int, of rows: [Int], _ methods: [EditMethod], _ shared: inout ColumnEncoder,
        into areas: inout SegmentAreas
    ) {
        let plain = ColumnEncoder(effort: shared.effort, cost: shared.cost)
        let mask = methods.reduce(UInt8(0)) { $0 | $1.bit }
        areas.tag(mask)
        if mask.nonzeroBitCount > 1 { plain.encode(methods.map { Int64($0.rawValue) }, into: &areas) }
        func chosen(_ method: EditMethod) -> [Int] { zip(rows, methods).filter { $1 == method }.map(\.0) }
        if mask & EditMethod.whole.bit != 0 {
            var values = ColumnValues()
            for row in chosen(.whole) { values.append(news[row][column]) }
            if values.count == count {
                shared.encode(values, isInAllRows: true, into: &areas)
            } else {
                var alone = plain
                alone.integerReferences.append(nil)
                alone.integerClasses.append(nil)
                alone.encode(values, isInAllRows: true, into: &areas)
            }
        }
        if mask & EditMethod.difference.bit != 0 {
            let steps = chosen(.difference).map { row -> Int64 in
                guard case .integer(let old) = old(row, column), case .integer(let new) = news[row][column] else {
                    return 0
                }
                return new &- old
            }
            plain.encode(steps, into: &areas)
        }
        if mask & EditMethod.sum.bit != 0 {
            plain.encode(
                reals: chosen(.sum).map {
                    (EditMethod.addend(from: old($0, column), to: news[$0][column]) ?? 0).bitPattern
                },
                into: &areas)
        }
        for method in [EditMethod.fromEnd, .fromStart] where mask & method.bit != 0 {
            let splices = chosen(method).compactMap { splice($0, column) }
            plain.encode(splices.map { Int64(method == .fromEnd ? $0.after : $0.before) }, into: &areas)
            plain.encode(splices.map { Int64($0.removed) }, into: &areas)
            var inserted = Strings()
            for splice in splices { inserted.append(splice.inserted) }
            plain.encode(inserted, into: &areas)
        }
    }
}

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

    /// Makes the next row.
    ///
    /// - Parameter old: Its values in the base.
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
