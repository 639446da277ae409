/// The tokens for some bytes that take the fewest bits, where each code takes what it took before.
///
/// It is the shortest way from the first byte to behind the last, where each literal and each match is a step.
struct OptimalParse {
    /// Parts of a bit in costs.
    private static let unit = Entropy.unit

    /// What each code takes in one block, with what follows it, in parts of a bit.
    private struct Costs {
        /// Behind which byte of the range the block ends.
        let end: Int
        var literals = [UInt32](repeating: 0, count: 256)
        /// By the length itself.
        var lengths = [UInt32](repeating: 0, count: DeflateFormat.longestMatch + 1)
        /// By the distance's code.
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

        /// By how often each code is used. One that is not used has to be said too if it is.
        private static func costs(_ counts: [Int]) -> [UInt32] {
            let total = max(1, counts.reduce(0, +))
            let all = Entropy.weight(total) / total
            return counts.map { count in
                let bits = count > 0 ? all - Entropy.weight(count) / count : all + unit
                return UInt32(clamping: min(max(bits, unit), DeflateFormat.longestCode * unit))
            }
        }
    }

    private let window: DeflateMatches.Window

    /// - Parameter window: At most 65,535 bytes, so that all they may cost is a number.
    init(_ window: DeflateMatches.Window) { self.window = window }

    /// - Parameters:
    ///   - tokens: Others for the same bytes, of which the codes are.
    ///   - ends: Behind which of those blocks end.
    func tokens(like tokens: [DeflateToken], _ ends: [Int]) -> [DeflateToken] {
        var blocks: [Costs] = []
        var (start, place) = (0, 0)
        for end in ends {
            let block = tokens[start..<end]
            place += block.reduce(0) { $0 + $1.byteCount }
            blocks.append(Costs(TokenCounts(block), end: place))
            start = end
        }
        let count = window.bytes.count
        var costs = [UInt32](repeating: .max, count: count + 1)
        var ways = [UInt32](repeating: 0, count: count + 1)
        costs[0] = 0
        costs.withUnsafeMutableBufferPointer { costs in
            ways.withUnsafeMutableBufferPointer { ways in
                var place = 0
                for block in blocks {
                    reach(place..<min(block.end, count), block, costs, ways)
                    place = min(block.end, count)
                }
            }
        }
        return Self.way(back: ways, window.bytes)
    }

    /// From each place of a block, notes the cheapest way to the places that can be reached from it.
    ///
    /// - Parameters:
    ///   - costs: Of each place.
    ///   - ways: The length and the distance, less 1, by which each place is reached.
    private func reach(
        _ places: Range<Int>, _ block: Costs, _ costs: UnsafeMutableBufferPointer<UInt32>,
        _ ways: UnsafeMutableBufferPointer<UInt32>
    ) {
        window.bytes.withUnsafeBufferPointer { bytes in
            window.matches.withUnsafeBufferPointer { matches in
                var index = places.lowerBound == 0 ? 0 : Int(window.ends[places.lowerBound &- 1])
                for place in places {
                    let cost = costs[place]
                    let literal = cost &+ block.literals[Int(bytes[place])]
                    if literal < costs[place &+ 1] {
                        costs[place &+ 1] = literal
                        ways[place &+ 1] = 1 &<< 16
                    }
                    var length = DeflateFormat.shortestMatch
                    let last = Int(window.ends[place])
                    while index < last {
                        let match = matches[index]
                        let base = cost &+ block.distances[DeflateFormat.distanceCode(match.distance)]
                        let (longest, distance) = (match.length, UInt32(truncatingIfNeeded: match.distance &- 1))
                        while length <= longest {
                            let reached = base &+ block.lengths[length]
                            if reached < costs[place &+ length] {
                                costs[place &+ length] = reached
                                ways[place &+ length] = UInt32(truncatingIfNeeded: length) &<< 16 | distance
                            }
                            length &+= 1
                        }
                        index &+= 1
                    }
                }
            }
        }
    }

    /// The tokens that lead to the end.
    private static func way(back ways: [UInt32], _ bytes: ArraySlice<UInt8>) -> [DeflateToken] {
        var tokens: [DeflateToken] = []
        var place = bytes.count
        while place > 0 {
            let length = Int(ways[place] &>> 16)
            place -= length
            tokens.append(
                length == 1
                    ? DeflateToken(literal: bytes[bytes.startIndex + place])
                    : DeflateToken(length: length, distance: Int(ways[place + length] & 0xffff) + 1))
        }
        tokens.reverse()
        return tokens
    }
}
