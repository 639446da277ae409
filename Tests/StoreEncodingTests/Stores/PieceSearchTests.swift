import TestSupport
import Testing

@testable import StoreEncoding

/// Bytes in memory, and how many of them were read.
private final class CountedBytes: ByteSource {
    private let bytes: [UInt8]
    private(set) var readCount = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var size: Int64 { Int64(bytes.count) }

    func append(_ range: Range<Int64>, to other: inout [UInt8]) {
        readCount += range.count
        other += bytes[Int(range.lowerBound)..<Int(range.upperBound)]
    }
}

/// What a search reads of a base and new bytes that were made to be slow to compare.
@Suite struct PieceSearchTests {
    /// - Returns: The steps, and the bytes of the base that were read to find them.
    private func search(_ base: [UInt8], for new: [UInt8]) throws -> (steps: [Piece], readCount: Int) {
        let source = CountedBytes(base)
        let search = try PieceSearch(source)
        let before = source.readCount
        var steps: [Piece] = []
        try search.run(over: CountedBytes(new)) { steps.append($0) }
        return (steps, source.readCount - before)
    }

    private func bytes(of steps: [Piece], over base: [UInt8]) -> [UInt8] {
        steps.reduce(into: []) { bytes, step in
            bytes += step.literal
            bytes += base[Int(step.offset)..<Int(step.offset + step.length)]
        }
    }

    @Test func `compares few blocks that only have the hash of one of the base`() throws {
        // A block that is greater by 118 in its last byte has the same tag, and falls into the same of 128 slots.
        var random = RepeatableRandom(seed: 1)
        let period = random.bytes(64).map { $0 % 138 }
        var base: [UInt8] = []
        for turn in 0..<64 {
            base += period[turn...] + period[..<turn]
            base[base.count - 1] += 118
        }
        let new = Array(repeatElement(period, count: 8192).joined())
        let (steps, readCount) = try search(base, for: new)
        #expect(bytes(of: steps, over: base) == new)
        // 65,536 at any place, and then one for each 64 bytes.
        #expect(readCount > 65_536 * 64)
        #expect(readCount <= (65_536 + new.count / 64) * 64)
    }

    @Test func `reads little beyond what short matches have`() throws {
        var random = RepeatableRandom(seed: 2)
        let base = random.bytes(1 << 19)
        var new: [UInt8] = []
        for _ in 0..<2048 {
            let start = Int(random.next() % UInt64(base.count / 64)) * 64
            new += base[start..<(start + 64)]
        }
        let (steps, readCount) = try search(base, for: new)
        #expect(bytes(of: steps, over: base) == new)
        #expect(steps.reduce(0) { $0 + $1.literal.count } < new.count / 32)
        #expect(readCount < 16 * new.count)
    }

    @Test func `no step copies more than a reader takes`() throws {
        var end = Int64(0)
        let areas = Piece.areas([Piece(literal: [1, 2], offset: 7, length: (1 << 32) + 5)], after: &end)
        #expect(end == (1 << 32) + 12)
        var control = AreaCursor(areas.control)
        var numbers: [UInt64] = []
        while control.offset < areas.control.count { numbers.append(try control.varint()) }
        let most = SegmentLimits.copySize
        #expect(numbers == [DeltaTag.pieces.rawValue, 3, 2, most, 14, 0, most, 0, 0, 5, 0])
    }
}
