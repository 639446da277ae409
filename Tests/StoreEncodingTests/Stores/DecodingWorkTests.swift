import ShipCompression
import StoreFormat
import TestSupport
import Testing

@testable import StoreEncoding

/// Valid segments of a few bytes that ask for hours: each must be refused for its work, and the work must be counted where it is done.
@Suite struct DecodingWorkTests {
    /// What the parts of these tests may spend, so that they end soon.
    private static let free = 1 << 23
    /// What one unit may cost at most, in nanoseconds, on a machine that does other things as well.
    private static let longestUnit = 150

    /// A part: what its segments are made of, and what takes them.
    private struct HostilePart {
        let about: String
        let segment: [UInt8]
        let take: (_ segment: [UInt8], DecodingWork) throws -> () throws -> Void
    }

    @Test(arguments: 0..<3)
    func `segments that ask for much work are refused, and no unit of it takes long`(seed: UInt64) throws {
        for part in try Self.parts(seed) {
            let work = DecodingWork(free: Self.free)
            let start = Int(CPUTime.thread)
            var (count, isRefused) = (0, false)
            do {
                let append = try part.take(part.segment, work)
                while count < 100_000 {
                    try append()
                    count += 1
                }
            } catch CompressionError.damaged(.work) {
                isRefused = true
            }
            let time = Int(CPUTime.thread) - start
            #expect(isRefused, "seed \(seed): \(part.about), after \(count) segments of \(part.segment.count) bytes")
            #expect(
                time / max(1, work.spent) < Self.longestUnit,
                "seed \(seed): \(part.about) took \(time / 1_000_000) ms for \(work.spent) units")
        }
    }

    private static func parts(_ seed: UInt64) throws -> [HostilePart] {
        var random = RepeatableRandom(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        return try deltas(number) + rows(number)
    }

    // MARK: Deltas

    private static func deltas(_ number: (ClosedRange<Int>) -> Int) throws -> [HostilePart] {
        let past = try #require(
            try Deflate.raw(of: [UInt8](repeating: 0, count: 1_048_577 + number(0...4096)), level: 6))
        let broken = past.dropLast(number(2...8)) + [UInt8](repeating: 0xff, count: 16)
        func hex(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let base = try DeltaOfStores(
            """
            CREATE TABLE b(x); CREATE TABLE n(a);
            WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < \(number(20...40)))
            INSERT INTO b SELECT CASE i % 2 WHEN 0 THEN x'\(hex(past))' ELSE x'\(hex(broken))' END FROM c;
            WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < \(number(20_000...40_000)))
            INSERT INTO n SELECT i FROM c;
            """, "CREATE TABLE z(z)"
        ).base
        func delta(_ about: String, _ segment: [UInt8], size: Int64 = 1 << 40) -> HostilePart {
            HostilePart(about: about, segment: segment) { segment, work in
                let pages = try MemoryPages(base)
                // Each segment begins a delta of its own, at the cost of one part.
                return {
                    let builder = DeltaBuilder(
                        base: pages, pageSize: 1024, pageCount: 1 << 30, work, makeTarget: { _ in NoPages() })
                    try builder.append(segment)
                }
            }
        }
        func preset(_ tree: Int, _ count: Int) throws -> [UInt8] {
            var segment: [UInt8] = [2, 16]
            for _ in 0..<16 { for value in [tree, 0, count] { segment.appendVarint(UInt64(value)) } }
            let content: [UInt8] = [1, 0, 0, 0]
            segment.appendVarint(UInt64(content.count))
            return segment + [1, UInt8(content.count), 0, UInt8(255 - content.count), 255] + content
        }
        // Two bits an event: 1 row forward and 1 back.
        let events = 4 * number(40_000...65_536)
        var jumps = SegmentAreas()
        jumps.control += [0, 0, 0, 1, 0]
        for index in 0..<number(2...8) {
            if index > 0 { jumps.control.append(1) }
            jumps.unsigned(3 << 6 | 8)
            jumps.count(events)
            jumps.control += [0, 0, 7, 2]
            jumps.signed(-2)
            jumps.numbers += [UInt8](repeating: 0b0010_0010, count: events / 4)
        }
        var empty = SegmentAreas()
        empty.control += [0, 0, 0, 1, 0, 0, 0]
        for _ in 0..<number(100_000...1_000_000) { empty.control += [1, 0, 0] }
        var copies = SegmentAreas()
        let steps = number(100_000...262_144)
        copies.control += [1, 4]
        copies.count(steps)
        copies.control += [0, 1, 0]
        for _ in 1..<steps { copies.control += [0, 1, 1] }
        return try [
            delta("a dictionary of blobs that inflate past the limit", preset(1, 40)),
            delta("a dictionary of many rows without text", preset(2, 40_000)),
            delta("jumps to and fro", deflated(jumps)),
            delta("parts without an event", deflated(empty)),
            delta("copies of one byte", deflated(copies)),
        ]
    }

    /// As form 1 of a delta's segment.
    private static func deflated(_ areas: SegmentAreas) throws -> [UInt8] {
        var content: [UInt8] = []
        for size in [areas.control.count, areas.numbers.count, 0] { content.appendVarint(UInt64(size)) }
        content += areas.control + areas.numbers + areas.text
        var segment: [UInt8] = [1]
        segment.appendVarint(UInt64(content.count))
        return segment + (try #require(try Deflate.raw(of: content, level: 6)))
    }

    /// A file that is never read.
    private final class NoPages: StoreBuilder.Target {
        let pageCount: UInt32 = 0
        func read(_ number: UInt32, into page: inout [UInt8]) {}
        func write(_ page: [UInt8], number: UInt32) {}
        func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) {}
        func makeSpillFile() -> any SpillFile { MemorySpill() }
    }

    // MARK: Rows

    private static func rows(_ number: (ClosedRange<Int>) -> Int) throws -> [HostilePart] {
        func part(_ about: String, _ areas: SegmentAreas, textSize: Int = 0) throws -> HostilePart {
            var content: [UInt8] = []
            for size in [areas.control.count, areas.numbers.count, textSize, textSize == 0 ? 0 : 1] {
                content.appendVarint(UInt64(size))
            }
            content += areas.control
            // One byte, which all others repeat.
            if textSize > 0 { for value in [1, textSize - 9, 0] { content.appendVarint(UInt64(value)) } }
            content += areas.numbers + (textSize > 0 ? [65] : [])
            var segment: [UInt8] = [0] + content
            if let deflated = try Deflate.raw(of: content, level: 6) {
                segment = [1]
                segment.appendVarint(UInt64(content.count))
                segment += deflated
            }
            return HostilePart(about: about, segment: segment) { segment, work in
                {
                    var reader = try SegmentReader(decoding: segment, work)
                    while !reader.isAtEnd { _ = try reader.rows() }
                }
            }
        }
        /// A group of `count` rows of one column of blobs that are `Strings` with tag 11, made at level 9.
        func streams(_ count: Int, of size: Int) -> SegmentAreas {
            var areas = SegmentAreas()
            areas.count(count)
            areas.control += [0, 0, 2, 0x10, 11, 0]
            areas.signed(Int64(1 + 8 + 9 * 7))
            areas.control += [0, 0]
            areas.signed(Int64(size))
            return areas
        }
        let few = number(1...4)
        let size = number(100_000...262_144) / few
        var following = SegmentAreas()
        following.count(number(200_000...400_000))
        following.control += [0, 0, 4, 2, 1, 2, 2, 2, 10, 1, 0, 2]
        var single = SegmentAreas()
        for _ in 0..<number(50_000...200_000) { single.control += [1, 0, 0, 2, 1] }
        return [
            try part("strings that are deflated", streams(few, of: size), textSize: few * size),
            try part("many streams of nothing", streams(number(10_000...100_000), of: 0)),
            try part("integers that follow a column", following),
            try part("row groups of one row", single),
        ]
    }
}

extension DecodingWorkTests {
    @Test func `a decoder stops when its time is over, and bytes that are made give it time`() throws {
        let work = DecodingWork(DecodingLimits(clock: DecodingClock(limit: .zero)))
        #expect(throws: CompressionError.damaged(.work)) {
            try work.measuring {
                while true { try work.spend(1 << 16) }
            }
        }
        let paid = DecodingWork(DecodingLimits(clock: DecodingClock(limit: .zero)))
        try paid.measuring {
            paid.pay(bytes: 1 << 30)
            for _ in 0..<4096 { try paid.spend(1 << 16) }
        }
    }

    @Test func `an interruption is thrown as what it is`() throws {
        struct Gone: Error {}
        let work = DecodingWork(DecodingLimits(interrupt: { throw Gone() }))
        #expect(throws: Gone.self) {
            try work.measuring {
                while true { try work.spend(1 << 16) }
            }
        }
    }
}
