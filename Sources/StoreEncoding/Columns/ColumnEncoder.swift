/// Chooses encodings for the columns of one group, and writes them. All choices decode to the same values.
struct ColumnEncoder {
    /// How many columns back a column may refer, so that the time for wide tables does not grow with the square of their columns.
    static let reach = 32

    let effort: SegmentEffort
    let cost: TrialCost
    /// What is known of the column that is encoded, if its values stand elsewhere.
    var sharedKeys: SharedKeys?
    /// Whether the dictionary of the segment has most of the rows, in the bytes that they have in the store.
    var isMostlyFound = false
    /// The columns of the segment so far whose values stand in the text area, of those that have shared keys.
    var keptColumns: Set<Int> = []
    /// Integers that later columns may refer to: the rowids, then by column; `nil` unless all rows have the column, and only integers.
    var integerReferences: [[Int64]?] = [nil]
    /// The classes of these columns, where values repeat.
    var integerClasses: [DistinctValues?] = [nil]
    /// Values by column; `nil` unless all rows have the column.
    var valueReferences: [ColumnValues?] = []
    /// The classes that the decoder knows, by column.
    var classReferences: [DistinctValues?] = []

    /// The cost of an encoding that later columns cannot profit from: a sixteenth more.
    ///
    /// A choice compares what one column takes by itself. Encodings that are nearly equal there may differ for later columns, which can be
    /// determined by classes that the decoder knows, and find strings again that stand as they are. This saves 4 % over twelve stores, and
    /// a quarter of the one with most rows; anything from a thirty-second to a quarter made no great difference.
    static func shared(_ cost: Int) -> Int { cost + cost / 16 }

    /// The areas that `write` makes of the cheapest of `candidates`.
    ///
    /// - Parameters:
    ///   - weigh: What a candidate of a cost is compared by.
    ///   - write: Says whether a candidate can be.
    /// - Returns: `nil` if none can.
    func cheapest<Tag>(
        of candidates: [Tag], weigh: (Tag, Int) -> Int = { $1 }, write: (Tag, inout SegmentAreas) -> Bool
    ) -> SegmentAreas? {
        var best: (cost: Int, areas: SegmentAreas)?
        if candidates.count == 1 { return first(of: candidates, write: write) }
        for tag in candidates {
            var areas = SegmentAreas()
            guard cost.onTrial({ write(tag, &areas) }) else { continue }
            let cost = weigh(tag, cost.of(areas))
            // Among equals the first and simplest is taken.
            if cost < best?.cost ?? Int.max { best = (cost, areas) }
        }
        if let best { cost.keep(best.areas) }
        return best?.areas
    }

    /// The areas that `write` makes of the first of `candidates` that can be.
    func first<Tag>(of candidates: [Tag], write: (Tag, inout SegmentAreas) -> Bool) -> SegmentAreas? {
        for tag in candidates {
            var areas = SegmentAreas()
            guard cost.onTrial({ write(tag, &areas) }) else { continue }
            cost.keep(areas)
            return areas
        }
        return nil
    }

    /// Ranks candidates by what `write` makes of a sample. `false` from `write` rules a candidate out.
    ///
    /// - Parameters:
    ///   - sampled: Values of the sample.
    ///   - count: Values in all.
    ///   - weigh: What a candidate of a cost is compared by.
    /// - Returns: The candidates that can be, the cheapest first.
    func ranked<Tag>(
        _ candidates: [Tag], by sampled: Int, of count: Int, weigh: (Tag, Int) -> Int = { $1 },
        write: (Tag, inout SegmentAreas) -> Bool
    ) -> [Tag] {
        guard candidates.count > 1 else { return candidates }
        let costs = cost.ofSample(sampled, of: count) {
            candidates.compactMap { tag -> (tag: Tag, cost: Int)? in
                var areas = SegmentAreas()
                return cost.onTrial { write(tag, &areas) } ? (tag, weigh(tag, cost.of(areas))) : nil
            }
        }
        // Stable, so that among equals the first and simplest is taken.
        return costs.sorted { $0.cost < $1.cost }.map(\.tag)
    }

    /// Ranks the first two candidates by what deflate makes of what `write` makes of a sample, streams aside.
    ///
    /// - Returns: The candidates that can be, the cheapest first.
    func confirmed<Tag>(
        _ candidates: [Tag], weigh: (Tag, Int) -> Int, write: (Tag, inout SegmentAreas) -> Bool
    ) -> [Tag] {
        let costs = candidates.prefix(2).map { tag -> Int? in
            var areas = SegmentAreas()
            guard cost.onTrial({ write(tag, &areas) }), areas.streams.content == 0 else { return nil }
            return cost.deflated(areas).map { weigh(tag, $0) }
        }
        guard costs.count == 2, let first = costs[0], let second = costs[1], second < first else { return candidates }
        return [candidates[1], candidates[0]] + candidates.dropFirst(2)
    }
}

extension Collection where Index == Int {
    /// Up to `count` elements in four runs, from all over the collection.
    func sampled(_ count: Int) -> [Element] {
        guard self.count > count else { return Array(self) }
        let run = count / 4
        let step = (self.count - run) / 3
        return (0..<4).flatMap { self[(startIndex + $0 * step)..<(startIndex + $0 * step + run)] }
    }
}

extension Array {
    /// The last `ColumnEncoder.reach` elements with their indexes.
    var withinReach: [(index: Int, element: Element)] {
        let start = Swift.max(0, count - ColumnEncoder.reach)
        return (start..<count).map { ($0, self[$0]) }
    }
}
