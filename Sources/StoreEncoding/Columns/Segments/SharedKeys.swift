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

    /// What values take if those that stand elsewhere become matches, for each column that has them.
    ///
    /// - Parameters:
    ///   - size: Bytes that they take as they stand, without matches.
    ///   - kept: The columns of the segment whose values are in the text area.
    func cost(of count: Int, asTheyStand size: Int, where kept: Set<Int>) -> Int {
        let here = here.reduce(0) { $0 + (kept.contains($1.key) ? $1.value : 0) }
        let (distinct, found) = (Double(max(1, distinct)), Double(earlier.count + here))
        let (share, laterShare) = (min(1, found / distinct), min(1, Double(later) / distinct))
        let match = Self.matchCost * Double(count)
        let runs = Double(runCost) * Double(count) / distinct
        let own = Double(size) * (1 - share) + match * share + runs
        return Int((own + match * laterShare) / (1 + laterShare))
    }
}
