import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression

/// Streams made here, against zlib's own.
@Suite struct DeflateReplayTests {
    /// Around the places where zlib's window moves, and where it has read all there is.
    private static let sizes = [
        0, 1, 2, 3, 4, 90, 700, 1000, 16_383, 32_500, 32_768, 33_060, 65_000, 65_274, 65_275, 65_530, 65_536, 65_836,
        98_304,
        130_900, 300_000,
    ]

    @Test(arguments: ZlibStreams.Content.allCases, DeflateParameters.levels)
    func `a stream is the same as zlib's at its level`(content: ZlibStreams.Content, level: Int) throws {
        var dice = RepeatableRandom(seed: UInt64(level))
        let parameters = try ZlibStreams.parameters(level)
        for size in Self.sizes {
            let bytes = content.bytes(size, &dice)
            let stream = try ZlibStreams.stream(of: bytes, parameters)
            #expect(DeflateReplay.deflated(bytes, with: parameters) == stream, "\(size) bytes")
        }
    }

    @Test(arguments: DeflateParameters.memoryLevels, DeflateParameters.windows)
    func `a stream is the same as zlib's with its memory level and window`(memoryLevel: Int, windowBits: Int) throws {
        var dice = RepeatableRandom(seed: UInt64(memoryLevel * 16 + windowBits))
        for content in ZlibStreams.Content.allCases {
            let level = Int.random(in: DeflateParameters.levels, using: &dice)
            let parameters = try ZlibStreams.parameters(level, memoryLevel, windowBits)
            let windows = Int.random(in: 1...(windowBits < 13 ? 8 : 3), using: &dice)
            let bytes = content.bytes(windows << windowBits + Int.random(in: -300...300, using: &dice), &dice)
            let stream = try ZlibStreams.stream(of: bytes, parameters)
            #expect(
                DeflateReplay.deflated(bytes, with: parameters) == stream,
                "\(content), \(bytes.count) bytes, \(level)")
        }
    }

    @Test(arguments: try ProtocolVector.all(.deflate))
    func `a stream is as its vector says`(vector: ProtocolVector) throws {
        let parameters = try ZlibStreams.parameters(
            try #require(vector.number("level")), try #require(vector.number("memory-level")),
            try #require(vector.number("window-bits")))
        let wrapping: DeflateWrapping
        switch vector["wrapping"] {
        case "raw": wrapping = .raw
        case "zlib": wrapping = .zlib
        default: wrapping = .gzip(head: try #require(vector.bytes(labelled: "head")))
        }
        let (content, stream) = (
            vector.bytes(labelled: "content") ?? [], try #require(vector.bytes(labelled: "stream"))
        )
        #expect(DeflateRecompression(content, parameters, wrapping).value == stream)
        guard stream.count >= DeflateRecompression.shortest else { return }
        let found = try #require(DeflateRecompression(of: stream[...], limit: content.count))
        #expect(found.content == content)
        #expect(found.wrapping == wrapping)
        #expect(found.value == stream)
    }

    @Test func `what zlib does not take are no parameters`() {
        for (level, memoryLevel, window) in [(0, 8, 15), (10, 8, 15), (6, 0, 15), (6, 10, 15), (6, 8, 8), (6, 8, 16)] {
            #expect(DeflateParameters(level: level, memoryLevel: memoryLevel, windowBits: window) == nil)
        }
    }
}
