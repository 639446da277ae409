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
    /// How many later ones have, and those that have fewer of earlier segments.
    let later: Int
    let laterAlone: Int
    /// What the runs take that `earlier` become, about, in bytes.
    let runCost: Int

    /// Bytes that a match takes, about. Keys of one length, one after the other, differ in their distances alone.
    var matchCost = 5.0

    /// What is known of the column if its digits go as the bytes that they stand for: earlier segments have none of these, and other columns
    /// only if theirs go so too. Its number tells these apart.
    var inBytes: SharedKeys {
        SharedKeys(
            column: ~column, distinct: distinct, earlier: [],
            here: Dictionary(uniqueKeysWithValues: here.map { (~$0.key, $0.value) }), later: laterAlone,
            laterAlone: laterAlone, runCost: 0, matchCost: 3)
    }

    /// What values take if those that stand elsewhere become matches, as do those of each column that has them.
    ///
    /// - Parameters:
    ///   - size: Bytes that they take as they stand, without matches.
    ///   - kept: The columns of the segment whose values are in the text area.
    func cost(of count: Int, asTheyStand size: Int, where kept: Set<Int>) -> Int {
        let laterShare = min(1, Double(later) / Double(max(1, distinct)))
        let own = Double(ownCost(of: count, asTheyStand: size, where: kept))
        return Int((own + matchCost * Double(count) * laterShare) / (1 + laterShare))
    }

    /// The same of this column alone.
    func ownCost(of count: Int, asTheyStand size: Int, where kept: Set<Int>) -> Int {
        let here = here.reduce(0) { $0 + (kept.contains($1.key) ? $1.value : 0) }
        let distinct = Double(max(1, distinct))
        let share = min(1, Double(earlier.count + here) / distinct)
        let runs = Double(runCost) * Double(count) / distinct
        return Int(Double(size) * (1 - share) + matchCost * Double(count) * share + runs)
    }
}
