/// Rows that are edited, and what they become: written column by column.
///
/// Source: `Protocol/DELTA.md` section 5.
struct EditedRows {
    private(set) var olds: [[DeltaValue]] = []
    private(set) var news: [[DeltaValue]] = []

    var count: Int { olds.count }

    mutating func append(_ old: [DeltaValue], _ new: [DeltaValue]) {
        olds.append(old)
        news.append(new)
    }

    /// Whether rows have other numbers of columns than before.
    var changesCounts: Bool { zip(olds, news).contains { $0.count != $1.count } }

    /// Writes nothing for no rows; the change of the numbers of columns only if there is one.
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
        // In the place of rowids, to which nothing refers.
        shared.integerReferences.append(nil)
        shared.integerClasses.append(nil)
        for column in Set(sets.joined()).sorted() {
            let rows = ids.indices.filter { sets[Int(ids[$0])].contains(column) }
            write(column, of: rows, &shared, into: &areas)
        }
    }

    /// The sets of columns that change together, the most frequent first, and for each row which it is.
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
        let numbers = rows.map { numberWay($0, column) }
        let strings = rows.map { isSpliced($0, column) }
        var candidates = [[EditWay](repeating: .whole, count: rows.count)]
        if numbers.contains(where: { $0 != .whole }) { candidates.append(numbers) }
        if strings.contains(true) {
            for way in [EditWay.fromEnd, .fromStart] {
                candidates.append(strings.map { $0 ? way : .whole })
            }
        }
        let streams = rows.map { isStreamAgain($0, column) }
        if streams.contains(true) {
            // The base has the like of what is in it, which a trial does not see.
            candidates = [[EditWay](repeating: .whole, count: rows.count)]
        }
        var best: (cost: Int, areas: SegmentAreas, shared: ColumnEncoder)?
        for ways in candidates {
            var (trial, encoder) = (SegmentAreas(), shared)
            write(column, of: rows, ways, &encoder, into: &trial)
            let cost = shared.cost.of(trial)
            if cost < best?.cost ?? Int.max { best = (cost, trial, encoder) }
        }
        guard let best else { return }
        areas.append(best.areas)
        shared = best.shared
    }

    private func numberWay(_ row: Int, _ column: Int) -> EditWay {
        switch (old(row, column), news[row][column]) {
        case (.integer, .integer): .difference
        case (.integer, .real), (.real, .integer), (.real, .real):
            EditWay.addend(from: old(row, column), to: news[row][column]) == nil ? .whole : .sum
        default: .whole
        }
    }

    private func splice(_ row: Int, _ column: Int) -> Splice? {
        switch (old(row, column), news[row][column]) {
        case (.text(let old), .text(let new)), (.blob(let old), .blob(let new)): Splice(from: old, to: new)
        default: nil
        }
    }

    /// Whether what is in a blob that is deflated can be compared with what was in the one before.
    private func isStreamAgain(_ row: Int, _ column: Int) -> Bool {
        guard case .blob(let old) = old(row, column), case .blob(let new) = news[row][column],
            StreamPlace.isStream(old), StreamPlace.isStream(new)
        else { return false }
        return DeflateRepetition(of: new, limit: SegmentLimits.deflatedString) != nil
    }

    private func isSpliced(_ row: Int, _ column: Int) -> Bool {
        guard let splice = splice(row, column) else { return false }
        return splice.before + splice.after >= 3 || splice.inserted.isEmpty
    }

    private func write(
        _ column: Int, of rows: [Int], _ ways: [EditWay], _ shared: inout ColumnEncoder,
        into areas: inout SegmentAreas
    ) {
        let plain = ColumnEncoder(effort: shared.effort, cost: shared.cost)
        let mask = ways.reduce(UInt8(0)) { $0 | $1.bit }
        areas.tag(mask)
        if mask.nonzeroBitCount > 1 { plain.encode(ways.map { Int64($0.rawValue) }, into: &areas) }
        func chosen(_ way: EditWay) -> [Int] { zip(rows, ways).filter { $1 == way }.map(\.0) }
        if mask & EditWay.whole.bit != 0 {
            var values = ColumnValues()
            for row in chosen(.whole) { values.append(news[row][column]) }
            if values.count == count {
                shared.encode(values, isWhole: true, into: &areas)
            } else {
                var alone = plain
                alone.integerReferences.append(nil)
                alone.integerClasses.append(nil)
                alone.encode(values, isWhole: true, into: &areas)
            }
        }
        if mask & EditWay.difference.bit != 0 {
            let steps = chosen(.difference).map { row -> Int64 in
                guard case .integer(let old) = old(row, column), case .integer(let new) = news[row][column] else {
                    return 0
                }
                return new &- old
            }
            plain.encode(steps, into: &areas)
        }
        if mask & EditWay.sum.bit != 0 {
            plain.encode(
                reals: chosen(.sum).map {
                    (EditWay.addend(from: old($0, column), to: news[$0][column]) ?? 0).bitPattern
                },
                into: &areas)
        }
        for way in [EditWay.fromEnd, .fromStart] where mask & way.bit != 0 {
            let splices = chosen(way).compactMap { splice($0, column) }
            plain.encode(splices.map { Int64(way == .fromEnd ? $0.after : $0.before) }, into: &areas)
            plain.encode(splices.map { Int64($0.removed) }, into: &areas)
            var inserted = Strings()
            for splice in splices { inserted.append(splice.inserted) }
            plain.encode(inserted, into: &areas)
        }
    }
}
