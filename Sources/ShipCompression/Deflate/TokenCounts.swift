/// How often the codes of a block are used.
struct TokenCounts {
    /// The end of the block is one of them.
    private(set) var symbols = [Int](repeating: 0, count: DeflateFormat.symbols)
    private(set) var distances = [Int](repeating: 0, count: DeflateFormat.distances)
    /// How many bits follow the codes.
    private(set) var extraBits = 0

    init(_ tokens: ArraySlice<DeflateToken>) {
        symbols[DeflateFormat.endOfBlock] = 1
        for token in tokens {
            symbols[token.symbol] += 1
            guard token.isMatch else { continue }
            distances[token.distanceCode] += 1
            let (length, distance) = token.extra
            extraBits += length + distance
        }
    }

    /// Replaces runs of similar counts by their mean: four or more neighbours that are within `tolerance` of the mean of the first four.
    func evened(within tolerance: Int) -> TokenCounts {
        var counts = self
        counts.symbols = Self.evened(symbols, within: tolerance)
        counts.distances = Self.evened(distances, within: tolerance)
        return counts
    }

    private static func evened(_ counts: [Int], within tolerance: Int) -> [Int] {
        var evened = counts
        var start = 0
        while start < counts.count {
            let first = counts[start...].prefix(4)
            let center = (first.reduce(0, +) + 2) / 4
            let run = counts[start...].prefix { abs($0 - center) <= tolerance }
            if run.count >= 4 {
                let sum = run.reduce(0, +)
                let mean = max(sum > 0 ? 1 : 0, (sum + run.count / 2) / run.count)
                for index in run.indices { evened[index] = mean }
            }
            start += max(1, run.count)
        }
        return evened
    }
}
