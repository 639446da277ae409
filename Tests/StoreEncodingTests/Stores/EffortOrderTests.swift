import ShipProtocol
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// A sender that takes more time for a store sends no more bytes.
@Suite struct EffortOrderTests {
    /// Blobs of a table, made from a seed.
    struct Maker: CustomTestStringConvertible, Sendable {
        let name: String
        let make: @Sendable (inout RepeatableRandom) throws -> [[UInt8]]

        var testDescription: String { name }
    }

    private static func text(_ size: Int, words: Int, _ dice: inout RepeatableRandom) -> [UInt8] {
        var text: [UInt8] = []
        while text.count < size {
            text += Array("\(String(Int.random(in: 0..<words, using: &dice) * 7_919_191, radix: 36)) ".utf8)
        }
        return text
    }

    private static func stream(_ content: [UInt8], level: Int, _ wrapping: DeflateWrapping = .zlib) throws -> [UInt8] {
        let parameters = try #require(DeflateParameters(level: level, memoryLevel: 8, windowBits: 15))
        return try #require(DeflateRecompression(content, parameters, wrapping).value)
    }

    static let makers = [
        Maker(name: "streams, a tenth of them of level 9") { dice in
            try (0..<150).map { row in
                let content = text(Int.random(in: 2000...20_000, using: &dice), words: 4000, &dice)
                return try stream(content, level: row % 10 == 0 ? 9 : 6)
            }
        },
        // They have their lines in common, which is seen only in what they stand for.
        Maker(name: "streams that stand for ten times as much") { dice in
            let lines = (0..<100).map { _ in text(72, words: 1 << 20, &dice) }
            return try (0..<400).map { _ in
                let own = (0..<20).map { _ in Int.random(in: 0..<100, using: &dice) }
                let content = (0..<200).flatMap { _ in lines[own[Int.random(in: 0..<20, using: &dice)]] }
                return try stream(content, level: 9)
            }
        },
        Maker(name: "texts") { dice in (0..<300).map { _ in text(900, words: 3000, &dice) } },
        Maker(name: "noise and runs") { dice in
            (0..<300).map { row in dice.bytes(row % 90) + [UInt8](repeating: UInt8(row % 7), count: row * 37 % 1900) }
        },
        Maker(name: "doubles") { dice in
            (0..<300).map { _ in
                var value = Double.random(in: -90...90, using: &dice)
                return (0..<60).flatMap { _ -> [UInt8] in
                    value += Double.random(in: -1...1, using: &dice)
                    return (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * $0)) }
                }
            }
        },
    ]

    /// - Returns: Bytes of all segments, as they go over a slow link from level 7 on.
    private static func size(of store: [UInt8], _ level: CompressionLevel) throws -> Int {
        var size = 0
        let isSlow = level.value > CompressionLevel.standard.value
        try StoreWalk.run(over: try MemoryPages(store), shapes: [:]) {
            isSlow ? SegmentContent.capacitiesOnSlowLink : SegmentContent.capacitiesForFewBytes
        } deliver: { content in
            size += try content.encoded(content.effort(level, isOnTrial: false)).count
        }
        return size
    }

    private static func store(_ blobs: [[UInt8]]) throws -> [UInt8] {
        let rows = blobs.map { blob in
            "(x'\(blob.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())')"
        }
        return try MemoryPages.canonicalForm(
            ofStoreMadeBy: "CREATE TABLE t (d BLOB); INSERT INTO t VALUES \(rows.joined(separator: ","));")
    }

    @Test(arguments: makers, [1] as [UInt64])
    func `more effort takes no more bytes, but for one in a hundred`(maker: Maker, seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let store = try Self.store(try maker.make(&dice))
        var least = Int.max / 2
        for level in [CompressionLevel.fastest, .standard, .smallest] {
            let size = try Self.size(of: store, level)
            #expect(size <= least + least / 100, "level \(level.value): \(size) bytes, \(least) at a lower level")
            least = min(least, size)
        }
    }

    @Test func `a segment is full when its streams have no more room in it`() throws {
        var dice = RepeatableRandom(seed: 1)
        let blobs = try Self.makers[1].make(&dice)
        let size = try Self.size(of: try Self.store(blobs), .standard)
        let all = blobs.reduce(0) { $0 + $1.count }
        #expect(size * 2 < all, "\(size) of \(all) bytes")
    }
}
