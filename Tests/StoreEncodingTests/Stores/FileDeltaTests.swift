import TestSupport
import Testing

@testable import StoreEncoding

/// Bytes in memory.
private struct Content: ByteSource {
    let bytes: [UInt8]
    var size: Int64 { Int64(bytes.count) }

    func append(_ range: Range<Int64>, to other: inout [UInt8]) {
        other += bytes[Int(range.lowerBound)..<Int(range.upperBound)]
    }
}

@Suite struct `A delta of a file` {
    private static let digest = Array(UInt8(0)..<32)

    private func delta(_ base: [UInt8], _ new: [UInt8], limit: Int64 = .max) throws -> [[UInt8]] {
        try EncodedSegment.delta(
            from: Content(bytes: base), Self.digest, to: Content(bytes: new), effort: .standard, limit: limit
        ).map(\.bytes)
    }

    private func made(of segments: [[UInt8]], _ base: [UInt8], size: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let builder = FileDeltaBuilder(size: Int64(size)) { name in
            #expect(name == Array(Self.digest.prefix(8)))
            return Content(bytes: base)
        } write: {
            bytes += $0
        }
        for segment in segments { try builder.append(segment) }
        try builder.finish()
        return bytes
    }

    @Test func `makes the file again, wherever bytes come, go and move`() throws {
        var random = RepeatableRandom(seed: 1)
        let base = random.bytes(300_000)
        var edits: [[UInt8]] = [base, base.reversed(), [7], Array(base.dropFirst()), [1] + base, base + base]
        for count in 1...6 {
            var new = base
            for _ in 0..<count {
                let place = Int(random.next() % UInt64(new.count))
                let end = min(new.count, place + Int(random.next() % 5000))
                new.replaceSubrange(place..<end, with: random.bytes(Int(random.next() % 500)))
            }
            edits.append(new)
        }
        edits.append(Array(base[150_000...] + base[..<150_000]))
        for new in edits {
            let segments = try delta(base, new)
            #expect(try made(of: segments, base, size: new.count) == new)
        }
        #expect(try delta(base, edits[0]).joined().count < 32)
        #expect(try delta(base, edits[4]).joined().count < 40)
        #expect(try delta([], [1, 2, 3]).joined().count < 32)
    }

    @Test func `is not made where it would be too large`() throws {
        var random = RepeatableRandom(seed: 2)
        let (base, new) = (random.bytes(2_000_000), random.bytes(2_000_000))
        #expect(throws: EncodingFailure.tooLarge) {
            try EncodedSegment.delta(
                from: Content(bytes: base), Self.digest, to: Content(bytes: new), effort: .fast, limit: 1_000_000)
        }
        #expect(try delta(base, new, limit: 2_100_000).count > 1)
    }
}
