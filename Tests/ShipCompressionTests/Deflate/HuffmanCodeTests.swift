import TestSupport
import Testing

@testable import ShipCompression

@Suite struct HuffmanCodeTests {
    /// How much of all codes these lengths use, in parts of the longest one.
    private static func used(_ lengths: [UInt8]) -> Int {
        lengths.reduce(0) { $0 + ($1 == 0 ? 0 : 1 << (15 - Int($1))) }
    }

    @Test(arguments: [7, 9, 15]) func `codes are within their limit, and none is left`(limit: Int) {
        var dice = RepeatableRandom(seed: UInt64(limit))
        for size in 2...100 {
            // Such counts make codes as long as there are symbols.
            var pair = (1, 1)
            let counts = (0..<size).map { _ -> Int in
                pair = (pair.1, min(1 << 40, pair.0 + pair.1))
                return Bool.random(using: &dice) ? pair.0 : Int.random(in: 1...9, using: &dice)
            }
            let lengths = HuffmanCode(counts: counts, limit: limit).lengths
            #expect(lengths.allSatisfy { $0 > 0 && $0 <= limit })
            #expect(Self.used(lengths) == 1 << 15)
        }
    }

    @Test func `no other lengths take fewer bits`() {
        var dice = RepeatableRandom(seed: 3)
        for _ in 0..<40 {
            let counts = (0..<5).map { _ in Int.random(in: 1...60, using: &dice) }
            for limit in 3...4 {
                let bits = HuffmanCode(counts: counts, limit: limit).bits(counts)
                var least = Int.max
                for choice in 0..<1024 {
                    let lengths = (0..<5).map { UInt8(choice >> (2 * $0) & 3) + 1 }
                    guard lengths.allSatisfy({ $0 <= limit }), Self.used(lengths) <= 1 << 15 else { continue }
                    least = min(least, zip(counts, lengths).reduce(0) { $0 + $1.0 * Int($1.1) })
                }
                #expect(bits == least)
            }
        }
    }

    @Test func `one symbol has a code, and none has none`() {
        #expect(HuffmanCode(counts: [0, 5, 0], limit: 15).lengths == [0, 1, 0])
        #expect(HuffmanCode(counts: [0, 0], limit: 15).lengths == [0, 0])
    }

    @Test func `codes of a block are such that it takes little to say them`() {
        var dice = RepeatableRandom(seed: 4)
        // Each dozen of neighbours is used about as often.
        let tokens = (0..<240).flatMap { symbol in
            let count = (symbol / 12 * 7 % 20 + 3) + Int.random(in: -2...2, using: &dice)
            return [DeflateToken](repeating: DeflateToken(literal: UInt8(symbol)), count: count)
        }
        let counts = TokenCounts(tokens[...])
        let (best, exact) = (BlockCodes.best(for: counts), BlockCodes(counts))
        #expect(best.bits(counts) + 64 < exact.bits(counts))
        #expect(zip(counts.symbols, best.symbols.lengths).allSatisfy { $0 == 0 || $1 > 0 })
    }

    @Test func `weights are counts times their logarithms`() {
        #expect(DeflateEstimate.weight(0) == 0)
        #expect(DeflateEstimate.weight(1) == 0)
        for bits in 1...30 { #expect(DeflateEstimate.weight(1 << bits) == bits << bits * DeflateEstimate.bitUnit) }
        // Source: 1000 * log2(1000), 1_000_003 * log2(1_000_003).
        #expect(abs(Double(DeflateEstimate.weight(1000)) / 256 - 9965.784) < 0.01)
        #expect(abs(Double(DeflateEstimate.weight(1_000_003)) / 256 - 19_931_633.0) < 60)
    }
}
