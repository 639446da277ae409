import ShipCompression

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
        var shared = plain
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

    private func write(_ column: Int, of rows: [Int], _ shared: inout ColumnEncoder, into areas: inout SegmentAreas) {
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
        return DeflateRecompression(of: new, limit: SegmentLimits.deflatedString) != nil
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
