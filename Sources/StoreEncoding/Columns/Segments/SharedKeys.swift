/// What is known of a column of a segment whose values stand elsewhere too.
package struct SharedKeys: Sendable {
    /// Its number in the segment.
    let column: Int
    /// Distinct values.
    let distinct: Int
    /// Those that earlier segments have.
    let earlier: [PageRun]
    /// How many earlier columns of the segment have.
    let here: [Int: Int]
    /// How many later ones have.
    let later: Int
    /// What the runs take that `earlier` become, about, in bytes.
    let runCost: Int

    /// Bytes that a match takes, about.
    private static let matchCost = 5.0

    /// What values take if those that stand elsewhere become matches, as do those of each column that has them.
    ///
    /// - Parameters:
    ///   - size: Bytes that they take as they stand, without matches.
    ///   - kept: The columns of the segment whose values are in the text area.
    func cost(of count: Int, asTheyStand size: Int, where kept: Set<Int>) -> Int {
        let laterShare = min(1, Double(later) / Double(max(1, distinct)))
        let own = Double(ownCost(of: count, asTheyStand: size, where: kept))
        return Int((own + Self.matchCost * Double(count) * laterShare) / (1 + laterShare))
    }

    /// The same of this column alone.
    func ownCost(of count: Int, asTheyStand size: Int, where kept: Set<Int>) -> Int {
        let here = here.reduce(0) { $0 + (kept.contains($1.key) ? $1.value : 0) }
        let distinct = Double(max(1, distinct))
        let share = min(1, Double(earlier.count + here) / distinct)
        let runs = Double(runCost) * Double(count) / distinct
        return Int(Double(size) * (1 - share) + Self.matchCost * Double(count) * share + runs)
    }
}
