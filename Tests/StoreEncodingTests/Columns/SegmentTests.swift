import RandomValues
import ShipCompression
import StoreFormat
import TestSupport
import Testing

@testable import StoreEncoding

@Suite struct SegmentTests {
    static let efforts: [SegmentEffort] = [.fast, .standard, .smallest]

    static func segment(_ groups: [RowGroup], _ form: IntegerForm = .modern, _ effort: SegmentEffort = .standard)
        throws -> [UInt8]
    {
        var writer = try SegmentWriter(effort: effort)
        for group in groups { try writer.rows(group, integers: form) }
        return try writer.finish()
    }

    static func expectSame(_ groups: [RowGroup], _ form: IntegerForm = .modern, _ effort: SegmentEffort = .standard)
        throws
    {
        var reader = try SegmentReader(decoding: segment(groups, form, effort))
        for group in groups {
            // Not `==` within `#expect`: it would print megabytes.
            let isSame = try reader.rows() == group
            #expect(isSame)
        }
        #expect(reader.isAtEnd)
    }

    /// Reads a segment with one bit after the other altered, three of each byte: whatever comes of it, nothing may trap.
    static func readAltered(_ content: [UInt8]) {
        for index in content.indices {
            for bit in [0, 3, 7] as [UInt8] {
                var altered = content
                altered[index] ^= 1 << bit
                guard var reader = try? SegmentReader(decoding: altered) else { continue }
                _ = try? reader.rows()
            }
        }
    }

    @Test func `segments of the highest effort go in blocks that are chosen for them`() throws {
        var dice = RepeatableRandom(seed: 9)
        let rows = (0..<2000).map { row -> [Cell] in
            [
                .integer(Int64.random(in: 0...70_000, using: &dice)),
                .real(Double(Int.random(in: 0...99, using: &dice)) / 8),
                .text("\(String(row * 7_919, radix: 36)) is the name of \(row % 97)"),
            ]
        }
        let segment = try Self.segment([RowGroup(rows)], .modern, .smallest)
        #expect(SegmentForm(rawValue: segment[0]).contains(.deflated))
        let sizeBytes = segment.dropFirst().prefix { $0 >= 0x80 }.count + 1
        let size = segment.dropFirst().prefix(sizeBytes).reversed().reduce(0) { $0 << 7 | Int($1 & 0x7f) }
        let stream = segment.dropFirst(1 + sizeBytes)
        let content = try Deflate.bytes(ofRaw: stream, size: size)
        #expect(stream.count < (try Deflate.raw(of: content, level: 12)?.count ?? content.count) - 50)
    }

    @Test func `with the highest effort short words are found wherever they come again`() throws {
        var dice = RepeatableRandom(seed: 5)
        let words = (0..<4000).map { _ in (0..<20).map { _ in UInt8.random(in: 0...255, using: &dice) } }
        var writer = try SegmentWriter(effort: .smallest)
        try writer.bytes(words.flatMap(\.self) + words.shuffled(using: &dice).flatMap(\.self))
        let size = try writer.finish().count
        // They once, and some three bytes each time that they come again. A quarter would go twice if one place of four were tried.
        #expect(size < 95_000)
    }

    @Test func `numbers, chunks and groups come back in the order of the calls`() throws {
        let group = RowGroup([[.text("a"), .integer(5)], [.text("b"), .null]], rowids: [3, 9])
        var writer = try SegmentWriter(effort: .standard)
        writer.number(7)
        try writer.rows(group)
        try writer.bytes([1, 2, 3])
        writer.number(.max)
        try writer.rows(RowGroup())
        #expect(writer.contentSize == group.records.count + 3)
        var reader = try SegmentReader(decoding: writer.finish())
        #expect(try reader.number() == 7)
        #expect(try reader.rows() == group)
        #expect(try reader.bytes() == [1, 2, 3])
        #expect(!reader.isAtEnd)
        #expect(try reader.number() == .max)
        #expect(try reader.rows() == RowGroup())
        #expect(reader.isAtEnd)
        #expect(throws: CompressionError.self) { try reader.number() }
    }

    @Test(arguments: efforts) func `random rows come back byte for byte`(effort: SegmentEffort) throws {
        var dice = RepeatableRandom(seed: 11)
        for size in [1, 2, 15, 16, 17, 40, 300] {
            for form in [IntegerForm.modern, .legacy] {
                let rows = (0..<size).map { _ in (0..<Int.random(in: 0...9, using: &dice)).map { _ in dice.cell() } }
                let rowids = (0..<size).map { _ in Int64(bitPattern: dice.next()) }
                try Self.expectSame(
                    [RowGroup(rows, rowids: rowids, form), RowGroup(rows, rowids: nil, form)], form, effort)
            }
        }
    }

    @Test(arguments: efforts) func `columns of one kind each come back byte for byte`(effort: SegmentEffort) throws {
        var dice = RepeatableRandom(seed: 5)
        for size in [3, 16, 100, 3000] {
            let rows = (0..<size).map { row -> [Cell] in
                let few = Int.random(in: 0...5, using: &dice)
                return [
                    .integer(Int64(row)), .integer(Int64(few)), .text("kind \(few)"), .text("name \(row)"),
                    .real(Double(row) / 8), row % 3 == 0 ? .null : .text("some"), row % 3 == 0 ? .null : .integer(9),
                    .blob([UInt8(few), 0, 1, 2]), .integer(Int64(row) + 1), .text("kind \(few)"), .real(Double(few)),
                ]
            }
            try Self.expectSame([RowGroup(rows, rowids: (0..<Int64(size)).map { $0 + 1 })], .modern, effort)
        }
    }

    @Test func `a record that is not canonical is refused`() throws {
        let wrong: [[UInt8]] = [
            [], [0], [3, 0], [2, 10], [2, 1, 0], [2, 1, 1], [2, 2, 0, 5], [2, 1], [2, 0, 0], [0x80, 2, 0],
            [3, 0x80, 0], [2, 13, 65], [2, 15],
        ]
        for record in wrong {
            var writer = try SegmentWriter(effort: .standard)
            #expect(throws: CompressionError.notCanonical, "\(record)") {
                try writer.rows(RowGroup(records: record, ends: [record.count]))
            }
        }
        var writer = try SegmentWriter(effort: .standard)
        #expect(throws: CompressionError.notCanonical) {
            try writer.rows(RowGroup(records: [2, 8], ends: [2]), integers: .legacy)
        }
        try writer.rows(RowGroup(records: [2, 1, 0], ends: [3]), integers: .legacy)
    }

    @Test func `a cut or altered segment ends in an error or in other rows`() throws {
        var dice = RepeatableRandom(seed: 3)
        let rows = (0..<40).map { row in
            [.integer(Int64(row * 3)), .text("name \(row)"), .real(Double(row) / 4), .blob([1, 2])] + [dice.cell()]
        }
        let segment = try Self.segment([RowGroup(rows, rowids: (0..<40).map { $0 * $0 })])
        for end in segment.indices { Self.read(Array(segment[..<end])) }
        // What deflate hides is altered in its content too.
        for bytes in [segment, try StoredSegment.bytes(of: segment)] {
            for index in bytes.indices {
                for bit in 0..<8 {
                    var altered = bytes
                    altered[index] ^= 1 << UInt8(bit)
                    Self.read(altered)
                }
            }
        }
    }

    /// Reads to the end or to an error.
    private static func read(_ segment: [UInt8]) {
        guard var reader = try? SegmentReader(decoding: segment) else { return }
        while !reader.isAtEnd {
            guard let group = try? reader.rows() else { return }
            #expect(group.records.count <= SegmentLimits.groupSize)
        }
    }
}

extension SegmentEffort {
    /// What takes the least time of all.
    static let fast = SegmentEffort(.fastest)
}
