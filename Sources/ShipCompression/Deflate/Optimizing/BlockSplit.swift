/// Splits tokens into deflate blocks. A block ends where the frequencies of codes change so much that new codes save more than their head
/// takes.
///
/// Each range is cut in two where the two take the fewest bits together, as long as they take fewer than the range, and so on with both.
/// It is written by hand because zlib and libdeflate keep to the blocks that they choose as they compress.
struct BlockSplit {
    /// A block ends behind a multiple of this many tokens.
    private static let step = 32
    private static let codes = DeflateFormat.symbols + DeflateFormat.distances
    /// The size of a block's head in itself, and for each code that the block uses, in bits: about as in blocks of stores.
    private static let headBits = 60.0
    private static let codeBits = 4.5
    /// A range is tried at this many places, and then between the neighbours of the best one, and so on.
    private static let places = 9

    /// Steps in all.
    private let count: Int
    /// How often each code is used before each step, step by step.
    private let counts: [UInt16]
    /// How many bits follow the codes before each step.
    private let extraBits: [Int]
    private let tokenCount: Int

    /// - Parameter tokens: At most 65,535.
    init(_ tokens: [DeflateToken]) {
        tokenCount = tokens.count
        count = (tokens.count + Self.step - 1) / Self.step
        var (extra, extraBits) = (0, [0])
        var counts: [UInt16] = []
        counts.reserveCapacity((count + 1) * Self.codes)
        var last = [UInt16](repeating: 0, count: Self.codes)
        counts += last
        for start in stride(from: 0, to: tokens.count, by: Self.step) {
            for token in tokens[start..<min(tokens.count, start + Self.step)] {
                last[token.symbol] += 1
                guard token.isMatch else { continue }
                last[DeflateFormat.symbols + token.distanceCode] += 1
                let bits = token.extra
                extra += bits.length + bits.distance
            }
            counts += last
            extraBits.append(extra)
        }
        (self.counts, self.extraBits) = (counts, extraBits)
    }

    /// The ends of blocks, in tokens and in order. The last one is the number of all tokens.
    func ends() -> [Int] {
        var ends: [Int] = []
        var open = [0..<count]
        while let range = open.popLast() {
            if let cut = bestCut(of: range) {
                open.append(cut..<range.upperBound)
                open.append(range.lowerBound..<cut)
            } else {
                ends.append(min(tokenCount, range.upperBound * Self.step))
            }
        }
        return ends
    }

    /// - Returns: `nil` if no cut saves bits.
    private func bestCut(of range: Range<Int>) -> Int? {
        guard range.count > 1 else { return nil }
        var best = (bits: bits(range), cut: range.lowerBound)
        let uncut = best.bits
        var (low, high) = (range.lowerBound + 1, range.upperBound - 1)
        while true {
            let cuts = Set((0..<Self.places).map { low + (high - low) * $0 / (Self.places - 1) }).sorted()
            let found = cuts.map { (bits: bits(range.lowerBound..<$0) + bits($0..<range.upperBound), cut: $0) }
            guard let index = found.indices.min(by: { found[$0].bits < found[$1].bits }) else { break }
            if found[index].bits < best.bits { best = found[index] }
            guard high - low >= Self.places else { break }
            (low, high) = (cuts[max(0, index - 1)], cuts[min(cuts.count - 1, index + 1)])
        }
        return best.bits < uncut ? best.cut : nil
    }

    /// About what a block takes.
    private func bits(_ range: Range<Int>) -> Double {
        let (symbols, used) = entropy(range, 0..<DeflateFormat.symbols)
        let (distances, usedDistances) = entropy(range, DeflateFormat.symbols..<Self.codes)
        let extra = extraBits[range.upperBound] - extraBits[range.lowerBound]
        return Self.headBits + Self.codeBits * Double(used + usedDistances) + Double(symbols + distances)
            / Double(DeflateEstimate.bitUnit) + Double(extra)
    }

    /// The size of the codes of one alphabet, in parts of a bit, and how many of them are used.
    private func entropy(_ range: Range<Int>, _ alphabet: Range<Int>) -> (weight: Int, used: Int) {
        let (before, after) = (range.lowerBound * Self.codes, range.upperBound * Self.codes)
        var (sum, total, used) = (0, 0, 0)
        for code in alphabet {
            let count = Int(counts[after + code] &- counts[before + code])
            if count == 0 { continue }
            used += 1
            total += count
            sum += DeflateEstimate.weight(count)
        }
        // A code is never shorter than a bit.
        return (max(DeflateEstimate.weight(total) - sum, total * DeflateEstimate.bitUnit), used)
    }
}
