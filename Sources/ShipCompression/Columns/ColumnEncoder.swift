/// Chooses encodings for the columns of one group, and writes them.
///
/// What it chooses is the encoder's own affair: any choice decodes to the same values.
struct ColumnEncoder {
    /// How many columns back another one is looked for, so that wide tables take no time by the square of their columns.
    static let reach = 32

    let effort: SegmentEffort
    let cost: TrialCost
    /// Whole columns of integers that later ones may refer to: the rowids first, then each column.
    var integerReferences: [[Int64]?] = []
    /// The classes of those of them that repeat.
    var integerClasses: [CellClasses?] = []
    /// Whole columns of texts, by column.
    var textReferences: [Strings?] = []
    /// Kinds of whole columns that have several, by column.
    var kindReferences: [[UInt8]?] = []
    /// Classes of whole columns, by column.
    var classReferences: [CellClasses?] = []

    init(effort: SegmentEffort, cost: TrialCost) {
        self.effort = effort
        self.cost = cost
    }

    /// A cost that later columns would have a share in: a sixteenth more.
    ///
    /// Each choice is made by what one column takes for itself, and some are nearly equal by that which are not equal for those
    /// that come later: they may follow from a column whose classes the decoder knows, and strings that go as they are can be
    /// found again. Over twelve stores it makes 4 % fewer bytes, of the one with most rows a quarter; from a thirty-second to a
    /// quarter made no great difference.
    static func shared(_ cost: Int) -> Int { cost + cost / 16 }

    /// What `write` makes of the cheapest of `candidates`.
    ///
    /// - Parameters:
    ///   - weigh: What a candidate of a cost is compared by.
    ///   - write: Says whether a candidate can be.
    /// - Returns: `nil` if none can.
    func cheapest<Tag>(
        of candidates: [Tag], weigh: (Tag, Int) -> Int = { $1 }, write: (Tag, inout SegmentAreas) -> Bool
    ) -> SegmentAreas? {
        var best: (cost: Int, areas: SegmentAreas)?
        for tag in candidates {
            var areas = SegmentAreas()
            guard write(tag, &areas) else { continue }
            if candidates.count == 1 { return areas }
            let cost = weigh(tag, cost.of(areas))
            // Among equals the first and simplest is taken.
            if cost < best?.cost ?? Int.max { best = (cost, areas) }
        }
        return best?.areas
    }

    /// `candidates`, judged by what `write` makes of a sample; `false` from it rules a candidate out.
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
                return write(tag, &areas) ? (tag, weigh(tag, cost.of(areas))) : nil
            }
        }
        // Stable, so that among equals the first and simplest is taken.
        return costs.sorted { $0.cost < $1.cost }.map(\.tag)
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
