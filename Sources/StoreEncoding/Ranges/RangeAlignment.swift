/// Finds which ranges of two lists are the same, in the order of both.
enum RangeAlignment {
    struct Pair: Hashable {
        let theirs: Int
        let ours: Int
    }

    /// The longest list of pairs in which both rise, of digests that each list has; of one that comes twice in ours the first counts.
    static func pairs(_ theirs: [UInt32?], _ ours: [UInt32]) -> [Pair] {
        let places = Dictionary(ours.enumerated().map { ($1, $0) }) { first, _ in first }
        let common = theirs.enumerated().compactMap { index, digest in
            digest.flatMap { places[$0] }.map { Pair(theirs: index, ours: $0) }
        }
        // Of each length the pair that ends such a list with the lowest place in ours, and the one before it.
        var ends: [Int] = []
        var before: [Int?] = []
        for (index, pair) in common.enumerated() {
            let place = ends.indices.first(notBefore: { common[ends[$0]].ours < pair.ours })
            before.append(place > 0 ? ends[place - 1] : nil)
            if place == ends.count { ends.append(index) } else { ends[place] = index }
        }
        var pairs: [Pair] = []
        var next = ends.last
        while let index = next {
            pairs.append(common[index])
            next = before[index]
        }
        return pairs.reversed()
    }
}
