/// Finds the tokens for a window of bytes that take the fewest bits, if each code is as long as it was before.
///
/// They are the shortest path from the first byte to behind the last: each literal and each match is a step.
struct OptimalParse {
    /// Costs are in parts of a bit.
    private static let unit = DeflateEstimate.bitUnit

    /// The size of each code in one block, with the bits that follow it.
    private struct Costs {
        /// The end of the block in the window, in bytes.
        let end: Int
        var literals = [UInt32](repeating: 0, count: 256)
        /// Indexed by the length itself.
        var lengths = [UInt32](repeating: 0, count: DeflateFormat.longestMatch + 1)
        /// Indexed by the code of the distance.
        var distances = [UInt32](repeating: 0, count: DeflateFormat.distances)

        init(_ counts: TokenCounts, end: Int) {
            self.end = end
            let symbols = Self.costs(counts.symbols)
            for byte in 0..<256 { literals[byte] = symbols[byte] }
            for length in DeflateFormat.shortestMatch...DeflateFormat.longestMatch {
                let code = Int(DeflateFormat.lengthCodes[length - DeflateFormat.shortestMatch])
                lengths[length] =
                    symbols[DeflateFormat.firstLength + code] + UInt32(DeflateFormat.lengths[code].extra * unit)
            }
            let codes = Self.costs(counts.distances)
            for code in distances.indices {
                distances[code] = codes[code] + UInt32(DeflateFormat.distanceExtra[code] * unit)
            }
        }

        /// A code that the block has not used yet would have to be in its head too.
        ///
        /// - Parameter counts: How often each code is used.
        private static func costs(_ counts: [Int]) -> [UInt32] {
            let total = max(1, counts.reduce(0, +))
            let all = DeflateEstimate.weight(total) / total
            return counts.map { count in
                let bits = count > 0 ? all - DeflateEstimate.weight(count) / count : all + unit
                return UInt32(clamping: min(max(bits, unit), DeflateFormat.longestCode * unit))
            }
        }
    }

    /// A length, and a distance.
    struct Match {
        private let bits: UInt32

        @inline(__always)
        init(length: Int, distance: Int) {
            bits = UInt32(truncatingIfNeeded: length) &<< 16 | UInt32(truncatingIfNeeded: distance &- 1)
        }

        @inline(__always) var length: Int { Int(bits &>> 16) }
        @inline(__always) var distance: Int { Int(bits & 0xffff) &+ 1 }
    }

    @inline(__always) private static var literal: Match { Match(length: 1, distance: 1) }

    /// At most 65,535, so that the cost of all fits a number.
    let bytes: ArraySlice<UInt8>
    /// For each byte, the end of its matches among `matches`.
    var ends: [Int32] = []
    /// The matches at each byte, from the shortest to the longest; none reaches beyond the last byte.
    var matches: [Match] = []

    init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// - Parameters:
    ///   - tokens: Others for the same bytes, whose codes count.
    ///   - ends: Behind which of them blocks end.
    func tokens(like tokens: [DeflateToken], _ ends: [Int]) -> [DeflateToken] {
        var blocks: [Costs] = []
        var (start, place) = (0, 0)
        for end in ends {
            let block = tokens[start..<end]
            place += block.reduce(0) { $0 + $1.byteCount }
            blocks.append(Costs(TokenCounts(block), end: place))
            start = end
        }
        let count = bytes.count
        var costs = [UInt32](repeating: .max, count: count + 1)
        var steps = [Match](repeating: Self.literal, count: count + 1)
        costs[0] = 0
        costs.withUnsafeMutableBufferPointer { costs in
            steps.withUnsafeMutableBufferPointer { steps in
                var place = 0
                for block in blocks {
                    reach(place..<min(block.end, count), block, costs, steps)
                    place = min(block.end, count)
                }
            }
        }
        return path(steps)
    }

    /// For the places of a block, notes the cheapest step to each place that a literal or a match reaches from there.
    ///
    /// - Parameters:
    ///   - costs: The least cost of each place.
    ///   - steps: The literal or match by which each place is reached at that cost.
    private func reach(
        _ places: Range<Int>, _ block: Costs, _ costs: UnsafeMutableBufferPointer<UInt32>,
        _ steps: UnsafeMutableBufferPointer<Match>
    ) {
        bytes.withUnsafeBufferPointer { bytes in
            matches.withUnsafeBufferPointer { matches in
                var index = places.lowerBound == 0 ? 0 : Int(self.ends[places.lowerBound &- 1])
                for place in places {
                    let cost = costs[place]
                    let literal = cost &+ block.literals[Int(bytes[place])]
                    if literal < costs[place &+ 1] {
                        costs[place &+ 1] = literal
                        steps[place &+ 1] = Self.literal
                    }
                    var length = DeflateFormat.shortestMatch
                    let last = Int(self.ends[place])
                    while index < last {
                        let match = matches[index]
                        let base = cost &+ block.distances[DeflateFormat.distanceCode(match.distance)]
                        let longest = match.length
                        // In a long run nothing is shorter than the longest, until its end is near.
                        if longest == DeflateFormat.longestMatch { length = longest }
                        while length <= longest {
                            let reached = base &+ block.lengths[length]
                            if reached < costs[place &+ length] {
                                costs[place &+ length] = reached
                                steps[place &+ length] = Match(length: length, distance: match.distance)
                            }
                            length &+= 1
                        }
                        index &+= 1
                    }
                }
            }
        }
    }

    /// The tokens on the path to the end.
    private func path(_ steps: [Match]) -> [DeflateToken] {
        var tokens: [DeflateToken] = []
        var place = bytes.count
        while place > 0 {
            let step = steps[place]
            place -= step.length
            tokens.append(
                step.length == 1
                    ? DeflateToken(literal: bytes[bytes.startIndex + place])
                    : DeflateToken(length: step.length, distance: step.distance))
        }
        tokens.reverse()
        return tokens
    }
}
