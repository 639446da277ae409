import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression

/// Who finds the parameters of a stream.
@Suite struct DeflateRecompressionTests {
    @Test(arguments: ZlibStreams.Wrapping.allCases, DeflateParameters.levels)
    func `the parameters of each level are found, or others that do the same`(
        wrapping: ZlibStreams.Wrapping, level: Int
    ) throws {
        var dice = RepeatableRandom(seed: UInt64(level))
        for content in ZlibStreams.Content.allCases where content != .zeros {
            for (memoryLevel, size) in [(8, 300), (8, 40_000), (9, 150_000), (1, 5000), (4, 9000)] {
                let bytes = content.bytes(size, &dice)
                let value = try ZlibStreams.stream(
                    of: bytes, try ZlibStreams.parameters(level, memoryLevel), wrapping: wrapping)
                // Many places look alike where few bytes are common, and the highest levels try thousands of them.
                guard value.count >= DeflateRecompression.shortest, content != .skewed || level < 8 else { continue }
                let repetition = DeflateRecompression(of: value[...], limit: size)
                let found = try #require(repetition, "\(content), \(size), \(memoryLevel)")
                #expect(found.content == bytes)
                #expect(found.value == value)
            }
        }
    }

    @Test(arguments: DeflateParameters.windows)
    func `a window that a stream only hints at is found`(windowBits: Int) throws {
        var dice = RepeatableRandom(seed: UInt64(windowBits))
        let bytes = ZlibStreams.Content.text.bytes(100_000, &dice)
        for wrapping in ZlibStreams.Wrapping.allCases {
            let value = try ZlibStreams.stream(
                of: bytes, try ZlibStreams.parameters(6, 8, windowBits), wrapping: wrapping)
            let found = try #require(DeflateRecompression(of: value[...], limit: bytes.count))
            #expect(found.parameters.windowBits == windowBits)
            #expect(found.value == value)
        }
    }

    @Test func `a hint is tried first, and not where the value rules it out`() throws {
        var dice = RepeatableRandom(seed: 5)
        // No level has more to find here than another.
        let bytes = ZlibStreams.Content.noise.bytes(30, &dice) + ZlibStreams.Content.noise.bytes(200, &dice)
        let value = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(6))
        let hint = try ZlibStreams.parameters(2, 7)
        #expect(DeflateRecompression(of: value[...], limit: 1000, hint: hint)?.parameters == hint)
        let wrapped = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(6), wrapping: .zlib)
        #expect(DeflateRecompression(of: wrapped[...], limit: 1000, hint: hint)?.parameters.level == 6)
    }

    @Test func `a stream that stands for more than the limit is left alone`() throws {
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        for wrapping in ZlibStreams.Wrapping.allCases {
            let value = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(6), wrapping: wrapping)
            #expect(DeflateRecompression(of: value[...], limit: bytes.count)?.value == value)
            #expect(DeflateRecompression(of: value[...], limit: bytes.count - 1) == nil)
            #expect(DeflateRecompression(of: value[...], limit: 0) == nil)
        }
    }

    @Test(arguments: ZlibStreams.Wrapping.allCases)
    func `a stream that is cut, goes on or is damaged is not taken for another`(wrapping: ZlibStreams.Wrapping) throws {
        var dice = RepeatableRandom(seed: 6)
        let bytes = ZlibStreams.Content.text.bytes(2000, &dice)
        let value = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(6), wrapping: wrapping)
        for count in 0..<value.count { #expect(DeflateRecompression(of: value[..<count], limit: 1 << 20) == nil) }
        #expect(DeflateRecompression(of: (value + [0])[...], limit: 1 << 20) == nil)
        for bit in stride(from: 0, to: value.count * 8, by: 3) {
            var damaged = value
            damaged[bit / 8] ^= 1 << (bit % 8)
            let found = DeflateRecompression(of: damaged[...], limit: 1 << 20)
            // The head of gzip may say whatever it likes, and one literal in place of another makes a raw stream of other content.
            let isMade = found.map { wrapping != .zlib && $0.value == damaged } ?? true
            #expect(isMade, "bit \(bit)")
        }
    }

    @Test func `a stream of another deflater, or of several calls, is left alone`() throws {
        var dice = RepeatableRandom(seed: 8)
        let bytes = ZlibStreams.Content.text.bytes(60_000, &dice)
        for level in [1, 6, 12] as [Int32] {
            let stream = try #require(try Deflate.raw(of: bytes, level: level))
            #expect(DeflateRecompression(of: stream[...], limit: 1 << 20) == nil)
        }
        let whole = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(6))
        let other = try #require(DeflateOptimizer.rewritten(whole, of: bytes))
        #expect(DeflateRecompression(of: other[...], limit: 1 << 20) == nil)
    }

    @Test func `what takes long to make again is left alone`() throws {
        // Each place has thousands of earlier ones that look like it.
        var dice = RepeatableRandom(seed: 9)
        var bytes: [UInt8] = []
        while bytes.count < 100_000 {
            bytes += [1, 2, 3, UInt8.random(in: 0...255, using: &dice), UInt8.random(in: 0...255, using: &dice)]
        }
        let value = try ZlibStreams.stream(of: bytes, try ZlibStreams.parameters(9))
        let took = ContinuousClock().measure { #expect(DeflateRecompression(of: value[...], limit: 1 << 20) == nil) }
        #expect(took < .seconds(5))
    }
}
