import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Other matches and other blocks, the same bytes.
@Suite struct DeflateOptimizerTests {
    private static let kinds: [@Sendable (Int) -> [UInt8]] = [
        { [UInt8](repeating: 0, count: $0) },
        { count in
            var dice = RepeatableRandom(seed: 1)
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) }
        },
        { (0..<$0).map { UInt8(truncatingIfNeeded: $0 / 3 &* $0 >> 4) } },
        { mixed($0) },
    ]

    /// A little of many things, as in a segment.
    private static func mixed(_ count: Int) -> [UInt8] {
        var dice = RepeatableRandom(seed: 7)
        var bytes: [UInt8] = []
        while bytes.count < count {
            let least = UInt8.random(in: 0...230, using: &dice)
            let most = least + UInt8.random(in: 1...25, using: &dice)
            let size = Int.random(in: 200...3000, using: &dice)
            bytes += (0..<size).map { _ in UInt8.random(in: least...most, using: &dice) }
        }
        return Array(bytes.prefix(count))
    }

    /// A stream that may be longer than its bytes.
    private static func deflated(_ bytes: [UInt8], _ level: Int32) throws -> [UInt8] {
        let compressor = try Deflate(raw: level)
        // What cannot be compressed is stored in blocks, which zlib ends sooner than it must.
        return [UInt8](unsafeUninitializedCapacity: bytes.count + bytes.count / 1000 + 64) { output, count in
            count = bytes.withUnsafeBufferPointer { compressor.compress($0, into: output) }
        }
    }

    @Test(arguments: kinds.indices, [0, 1, 6, 12] as [Int32])
    func `the bytes stay the same`(kind: Int, level: Int32) throws {
        for count in [0, 1, 2, 31, 33, 300, 65_535, 65_537, 300_000] {
            let bytes = Self.kinds[kind](count)
            let stream = try Self.deflated(bytes, level)
            let other = try #require(DeflateOptimizer.rewritten(stream, of: bytes))
            #expect(try Deflate.bytes(ofRaw: other[...], size: count) == bytes)
        }
    }

    @Test func `what is of many kinds takes a good deal less`() throws {
        let bytes = Self.mixed(60_000)
        let stream = try Self.deflated(bytes, 12)
        let other = try #require(DeflateOptimizer.shorter(stream, of: bytes))
        #expect(other.count * 100 < stream.count * 98)
    }

    /// Lines in which words come again, some of them from before.
    private static func lines(_ count: Int, _ seed: UInt64) -> [UInt8] {
        var dice = RepeatableRandom(seed: seed)
        let words = (0..<300).map { String($0 * 7_919, radix: 36) }
        var text = ""
        while text.utf8.count < count {
            text += "\(words.randomElement(using: &dice) ?? "") \(Int.random(in: 0..<99, using: &dice)), "
        }
        return Array(text.utf8.prefix(count))
    }

    @Test(arguments: [9000, 65_536, 200_000])
    func `matches are chosen that take less, whoever chose those before`(count: Int) throws {
        let bytes = Self.lines(count, 3)
        let sizes = try [(6, 3.0), (12, 0.1)].map { (level: Int32, gain: Double) in
            let stream = try Self.deflated(bytes, level)
            let other = try #require(DeflateOptimizer.shorter(stream, of: bytes))
            #expect(try Deflate.bytes(ofRaw: other[...], size: count) == bytes)
            #expect(Double(other.count) <= Double(stream.count) * (1 - gain / 100), "\(level)")
            return Double(other.count)
        }
        #expect(sizes[0] < sizes[1] * 1.02)
    }

    @Test(arguments: [10, 5000, 40_000, 90_000])
    func `matches reach into what stands before`(preset: Int) throws {
        let before = Self.lines(preset, 3)
        // The end of it once more, which is as far away as a match can reach.
        let bytes = Array(before.suffix(32_768).prefix(3000)) + Self.lines(4000, 9)
        let stream = try #require(Deflate.raw(of: bytes, after: before))
        let other = try #require(DeflateOptimizer.shorter(stream, of: bytes, after: before))
        #expect(try Deflate.bytes(ofRaw: other[...], after: before, size: bytes.count) == bytes)
        let alone = try #require(DeflateOptimizer.rewritten(stream, of: bytes))
        #expect(preset < 5000 || other.count < alone.count)
    }

    @Test func `noise is stored, whatever is before it`() throws {
        let (few, noise) = (Self.mixed(5000), Self.kinds[1](200_000))
        let alone = try #require(DeflateOptimizer.rewritten(try Self.deflated(few, 1), of: few)).count
        let bytes = few + noise
        let other = try #require(DeflateOptimizer.rewritten(try Self.deflated(bytes, 1), of: bytes))
        // Each stored block takes 5 bytes, and the first begins in the middle of a step.
        #expect(other.count < alone + noise.count + 64)
        #expect(try Deflate.bytes(ofRaw: other[...], size: bytes.count) == bytes)
    }

    @Test func `what is no stream, or stands for other bytes, is left alone`() throws {
        let bytes = Self.mixed(2500)
        let stream = try Self.deflated(bytes, 6)
        #expect(DeflateOptimizer.rewritten(stream, of: Array(bytes.dropLast())) == nil)
        #expect(DeflateOptimizer.rewritten(stream, of: bytes + [1]) == nil)
        for count in 0..<stream.count {
            #expect(DeflateOptimizer.rewritten(Array(stream.prefix(count)), of: bytes) == nil)
        }
        var found = 0
        // In a short run almost each byte is damaged once, in another bit than the one before.
        var tried = 0
        for bit in Soak.stride(0..<(stream.count * 8), by: 9) {
            tried += 1
            var damaged = stream
            damaged[bit / 8] ^= 1 << (bit % 8)
            // That it ends is what matters: a decoder finds what is wrong with other bytes.
            if DeflateOptimizer.rewritten(damaged, of: bytes) == nil { found += 1 }
        }
        #expect(found > tried / 8)
    }
}
