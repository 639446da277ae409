import Foundation
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Segments of a few bytes, written by hand, that ask for more than a segment may hold.
@Suite struct SegmentLimitTests {
    private static func varint(_ value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendVarint(UInt64(value))
        return bytes
    }

    private static func stored(control: [UInt8], numbers: [UInt8] = [], text: [UInt8] = []) -> [UInt8] {
        [0] + varint(control.count) + varint(numbers.count) + varint(text.count) + [0] + control + numbers + text
    }

    private static let rows = varint(SegmentLimits.rows)
    /// `Integers`, all of them 0, and all of them 1.
    private static let zeros: [UInt8] = [0, 0]
    private static let ones: [UInt8] = [0, 2]

    private static let segments: [(String, [UInt8])] = [
        ("more rows than a segment may have", varint(SegmentLimits.rows + 1) + [0]),
        ("more columns than a row may have", [1, 0, 0] + varint(2 * (SegmentLimits.columns + 1))),
        ("more values than records of that size hold", rows + [0, 0] + varint(2 * 30_000)),
        ("reals that take more than records may", rows + [0] + ones + [4, 2, 0] + zeros),
        ("planes beyond the area", rows + [1, 4, 8, 0]),
        ("runs beyond the rows", [40, 1, 6, 2, 2, 0, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ("an index beyond the dictionary", [20, 0] + ones + [0x80, 1, 2, 0, 4, 0, 2]),
        ("a column that is not there", [20, 0] + ones + [0x81, 0]),
        ("rowids that are not there", [20, 0] + ones + [2, 9, 0, 0, 0]),
        ("itself", [20, 0] + ones + [0x83, 0]),
        ("kinds of nothing", [20, 0] + ones + [0]),
        ("dictionaries within dictionaries", [20, 0] + ones + [2] + (0..<9).flatMap { _ in [UInt8(8), 20] }),
        ("a varint of more than 64 bits", [UInt8](repeating: 0xff, count: 10) + [1]),
    ]

    @Test(arguments: segments.indices) func `too much is refused`(index: Int) throws {
        let (_, control) = Self.segments[index]
        var reader = try SegmentReader(decoding: Self.stored(control: control))
        #expect(throws: CompressionError.self, "\(Self.segments[index].0)") { try reader.rows() }
    }

    @Test func `a text that is repeated does not grow beyond the limit`() throws {
        let text = [UInt8](repeating: 65, count: 5_000)
        let control = Self.rows + [0] + Self.ones + [0x80, 1, 8, 0] + [0] + Self.varint(10_000) + Self.zeros
        var reader = try SegmentReader(decoding: Self.stored(control: control, text: text))
        #expect(throws: CompressionError.damaged(.segmentLimit)) { try reader.rows() }
    }

    @Test func `what follows a segment, or is missing from it, is an error`() throws {
        var writer = try SegmentWriter(effort: .standard)
        try writer.bytes([UInt8](repeating: 7, count: 1_000))
        let segment = try writer.finish()
        #expect(throws: CompressionError.damaged(.trailingBytes)) { try SegmentReader(decoding: segment + [0]) }
        #expect(throws: CompressionError.self) { try SegmentReader(decoding: segment.dropLast()) }
        #expect(throws: CompressionError.self) { try SegmentReader(decoding: []) }
        #expect(throws: CompressionError.self) { try SegmentReader(decoding: [2, 0, 0, 0, 0]) }
        let long = [UInt8](repeating: 0, count: SegmentLimits.encodedSize + 1)
        #expect(throws: CompressionError.damaged(.segmentLimit)) { try SegmentReader(decoding: long) }
    }

    @Test(
        arguments: [
            // Further back than the dictionary begins; longer than the text; more literals than there are.
            [0, 0, 0, 8, 1, 0, 0, 0xff, 0xff, 3], [0, 0, 0, 8, 1, 0, 1, 0], [0, 0, 0, 9, 1, 1, 0, 0],
            [0, 0, 0, 9, 1, 0, 0, 0],
        ] as [[UInt8]])
    func `a match that cannot be is an error`(segment: [UInt8]) {
        #expect(throws: CompressionError.self) { try SegmentReader(decoding: segment) }
    }

    @Test func `a match may reach into the dictionary`() throws {
        var control = SegmentAreas()
        control.count(8)
        let content = [UInt8(control.control.count), 0, 8, 1] + control.control + [0, 0, 7]
        var reader = try SegmentReader(decoding: [0] + content)
        #expect(try reader.bytes() == Array(MatchDictionary.builtInBytes.suffix(8)))
        #expect(reader.isAtEnd)
    }

    @Test func `the dictionary is that of the specification`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Protocol/columns-dictionary.txt")
        var bytes: [UInt8] = []
        for line in try [UInt8](Data(contentsOf: file)).split(separator: UInt8(ascii: "\n")) where line.first != 35 {
            var rest = line
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "\\") else {
                    bytes.append(byte)
                    continue
                }
                if rest.first == UInt8(ascii: "\\") {
                    bytes.append(rest.removeFirst())
                } else {
                    bytes.append(try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
                    rest = rest.dropFirst(2)
                }
            }
        }
        #expect(bytes == MatchDictionary.builtInBytes)
        #expect(bytes.count <= 32_768)
    }

    @Test func `chunks and groups over the limits are refused by the writer`() throws {
        var writer = try SegmentWriter(effort: .fast)
        let chunk = [UInt8](repeating: 1, count: SegmentLimits.chunkSize)
        #expect(throws: CompressionError.segmentFull) { try writer.bytes(chunk + [1]) }
        for _ in 0..<6 { try writer.bytes(chunk) }
        #expect(throws: CompressionError.segmentFull) { try writer.bytes([1]) }
        let segment = try writer.finish()
        #expect(segment.count < 20_000)
        var reader = try SegmentReader(decoding: segment)
        for _ in 0..<6 { #expect(try reader.bytes() == chunk) }
    }
}
