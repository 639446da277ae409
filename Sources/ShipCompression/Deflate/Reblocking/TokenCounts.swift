/// How often the codes of a block are used.
struct TokenCounts {
    /// With the one end of the block.
    private(set) var symbols = [Int](repeating: 0, count: DeflateFormat.symbols)
    private(set) var distances = [Int](repeating: 0, count: DeflateFormat.distances)
    /// What follows the codes.
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
}
