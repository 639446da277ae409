import TestSupport
import Testing

@testable import ShipCompression

@Suite struct DeflateEstimateTests {
    /// Parts of a random number of bytes, each of a random alphabet: what a byte-stream split makes of numbers.
    private static func parts(_ dice: inout RepeatableRandom) -> [[UInt8]] {
        (0..<Int.random(in: 2...6, using: &dice)).map { _ in
            let (first, width) = (UInt8.random(in: 0...127, using: &dice), UInt8.random(in: 0...127, using: &dice))
            return (0..<Int.random(in: 20_000...60_000, using: &dice)).map { _ in
                first + UInt8.random(in: 0...width, using: &dice)
            }
        }
    }

    private static func estimate(_ bytes: [UInt8]) -> Int {
        var estimate = DeflateEstimate()
        return bytes.withUnsafeBufferPointer { estimate.size(of: $0) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `parts take together what each takes`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let parts = Self.parts(&dice)
        let alone = parts.reduce(0) { $0 + Self.estimate($1) }
        let together = Self.estimate(parts.flatMap(\.self))
        // A step of a block may begin in one part and end in the next.
        #expect(together < alone + alone / 50 + 600 * parts.count, "SEED=\(seed)")
        let deflated = try #require(try Deflate.raw(of: parts.flatMap(\.self), level: 6)).count
        #expect(together * 5 > deflated * 4 && together * 4 < deflated * 5, "SEED=\(seed) \(together) \(deflated)")
    }
}
