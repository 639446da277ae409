/// Finds which column of the base each column of a table is, where columns were dropped, added or moved, from rows of both.
///
/// Source: `Protocol/DELTA.md` section 4.
struct ColumnAlignment {
    /// Most pairs of columns that are compared; a table of a thousand columns has as many.
    private static let mostCells = 1 << 20
    /// Most values that are compared.
    private static let mostComparisons = 1 << 24

    /// For each column of the result the column of the base, `nil` for none.
    let columns: [Int?]

    /// - Parameters:
    ///   - pairs: Rows of the result, and what they were.
    ///   - names: Of the columns, as far as they are known. Among columns that hold the same they decide.
    /// - Returns: `nil` if the rows are as near to those of the base without it.
    init?(_ pairs: [(new: TreeSample.SampledRow, old: TreeSample.SampledRow)], names: (old: [String], new: [String])) {
        guard let count = pairs.first?.new.values.count, pairs.allSatisfy({ $0.new.values.count == count }),
            let oldCount = pairs.map(\.old.values.count).max(), count <= SegmentLimits.columns,
            (count + 1) * (oldCount + 1) <= Self.mostCells
        else { return nil }
        let pairs = pairs.prefix(max(1, Self.mostComparisons / max(1, count * oldCount)))
        func score(_ column: Int, _ old: Int) -> Int {
            let equal = pairs.count { old < $0.old.values.count && $0.new.values[column] == $0.old.values[old] }
            let isNamed =
                column < names.new.count && old < names.old.count && names.new[column] == names.old[old]
            // A few equal values are chance, and would take the place of the column that it is.
            return isNamed ? 4 * equal + 1 : 2 * equal > pairs.count ? 4 * equal : 0
        }
        let scores = (0..<count).map { column in (0..<oldCount).map { score(column, $0) } }
        var columns = Self.inOrder(scores, count, oldCount)
        // A column that moved is not in the order of the others.
        var left = Set(0..<oldCount).subtracting(columns.compactMap { $0 })
        for column in columns.indices where columns[column] == nil {
            guard let best = left.max(by: { (scores[column][$0], $1) < (scores[column][$1], $0) }),
                scores[column][best] > 0
            else { continue }
            columns[column] = best
            left.remove(best)
        }
        let null = UInt64(truncatingIfNeeded: DeltaValue.null.hashValue)
        func differences(_ place: (Int) -> Int?) -> Int {
            pairs.reduce(0) { sum, pair in
                sum
                    + (0..<count).count { column in
                        let old = place(column).flatMap { $0 < pair.old.values.count ? pair.old.values[$0] : nil }
                        return pair.new.values[column] != old ?? null
                    }
            }
        }
        let countChanges = pairs.count { $0.old.values.count != count }
        guard differences({ columns[$0] }) < differences({ $0 }) + countChanges else { return nil }
        self.columns = columns
    }

    /// The alignment with the highest sum of scores in which no column goes before another one.
    private static func inOrder(_ scores: [[Int]], _ count: Int, _ oldCount: Int) -> [Int?] {
        let width = oldCount + 1
        var sums = [Int](repeating: 0, count: (count + 1) * width)
        for column in 0..<count {
            for old in 0..<oldCount {
                let both = sums[column * width + old] + scores[column][old]
                sums[(column + 1) * width + old + 1] = max(
                    both, sums[column * width + old + 1], sums[(column + 1) * width + old])
            }
        }
        var columns = [Int?](repeating: nil, count: count)
        var (column, old) = (count, oldCount)
        while column > 0, old > 0 {
            let sum = sums[column * width + old]
            let score = scores[column - 1][old - 1]
            if score > 0, sum == sums[(column - 1) * width + old - 1] + score {
                columns[column - 1] = old - 1
                (column, old) = (column - 1, old - 1)
            } else if sum == sums[column * width + old - 1] {
                old -= 1
            } else {
                column -= 1
            }
        }
        return columns
    }
}
