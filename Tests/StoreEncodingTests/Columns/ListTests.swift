import Foundation
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Property lists that Python's plistlib writes, which makes equal texts one object as Apple's writer does, through a segment and back.
@Suite struct ListTests {
    private static let maker = """
        import plistlib, random, datetime, functools
        uid = functools.cache(plistlib.UID)  # equal ones are one object
        dice = random.Random(23)
        def value(depth):
            kind = dice.randrange(8 if depth > 3 else 10)
            if kind == 0: return dice.random() < 0.5
            if kind == 1: return dice.randrange(10)
            if kind == 2: return dice.getrandbits(63) >> dice.randrange(64)
            if kind == 3: return -dice.randrange(1 << 40)
            if kind == 4: return dice.randrange(99) / 7
            if kind == 5: return datetime.datetime(2026, 1, 1 + dice.randrange(28))
            if kind == 6: return bytes(range(dice.randrange(20)))
            if kind == 7: return dice.choice(["name", "größer", "value", "x" * 300]) + str(dice.randrange(4))
            if kind == 8: return [value(depth + 1) for _ in range(dice.randrange(18))]
            return {f"name{i}": value(depth + 1) for i in range(dice.randrange(6))}
        def archive(count):
            objects = ["$null", {"people": uid(2), "owner": uid(0)}, {"NS.objects": None}]
            people = []
            for number in range(count):
                people.append(uid(len(objects)))
                name = uid(len(objects) + 1)
                objects += [{"name": name, "nick": name, "list": uid(2), "age": number % 7}, f"person {number}"]
            objects[2]["NS.objects"] = people
            return {"$archiver": "NSKeyedArchiver", "$objects": objects, "$top": {"root": uid(1)}, "$version": 100000}
        for number in range(60): print("random", plistlib.dumps({"top": value(0)}, fmt=plistlib.FMT_BINARY, sort_keys=False).hex())
        for number in range(30): print("archive", plistlib.dumps(archive(20), fmt=plistlib.FMT_BINARY, sort_keys=False).hex())
        for part in range(7):
            names = {str(part * 10_000 + number): True for number in range(10_000)}
            print("names", plistlib.dumps(names, fmt=plistlib.FMT_BINARY, sort_keys=False).hex())
        """

    private static func lists(_ kind: String) throws -> [[UInt8]] {
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", "-c", maker]
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        python.waitUntilExit()
        let digits = text.split(separator: "\n").filter { $0.hasPrefix(kind + " ") }.map {
            $0.dropFirst(kind.count + 1)
        }
        return digits.map { line in
            let values = line.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        }
    }

    private static func blobs(_ lists: [[UInt8]]) -> RowGroup {
        RowGroup(lists.map { [.blob($0)] }, rowids: (0..<lists.count).map { Int64($0) })
    }

    private static func strings(_ lists: [[UInt8]]) -> Strings {
        var strings = Strings()
        for list in lists { strings.append(list) }
        return strings
    }

    @Test func `random lists are taken apart and come back byte for byte, whole or damaged`() throws {
        var dice = RepeatableRandom(seed: 23)
        var lists = try Self.lists("random")
        try #require(lists.count == 60)
        let modes = try #require(PlistEncoder(Self.strings(lists))).modes
        #expect(modes.count { $0 != 0 } == 60)
        try SegmentTests.expectSame([Self.blobs(lists)])
        for index in lists.indices {
            let place = Int.random(in: 0..<lists[index].count, using: &dice)
            lists[index][place] ^= UInt8.random(in: 1...255, using: &dice)
        }
        try SegmentTests.expectSame([Self.blobs(lists)])
    }

    @Test func `archives come back byte for byte, and take little more than their texts`() throws {
        let lists = try Self.lists("archive")
        try #require(lists.count == 30)
        let modes = try #require(PlistEncoder(Self.strings(lists))).modes
        #expect(modes.allSatisfy { $0 == 2 })
        try SegmentTests.expectSame([Self.blobs(lists)])
        #expect(try SegmentTests.segment([Self.blobs(lists)]).count < 500)
    }

    /// A decoder takes no more names than it says.
    @Test func `lists with more names than can be said come back as they are`() throws {
        let lists = try Self.lists("names")
        try #require(lists.count == 7)
        #expect(PlistEncoder(Self.strings(Array(lists[..<6]))) != nil)
        #expect(PlistEncoder(Self.strings(lists)) == nil)
        try SegmentTests.expectSame([Self.blobs(lists)])
    }

    @Test func `streams come back in each wrapping, and go by what is in them`() throws {
        var dice = RepeatableRandom(seed: 5)
        // Words that a stream holds in some 10 bits each, and columns in less.
        let content = (0..<2000).flatMap { _ in Array("word \(Int.random(in: 0...63, using: &dice)),".utf8) }
        let parameters = try #require(DeflateParameters(level: 1, memoryLevel: 1, windowBits: 9))
        let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4]
        for wrapping in [DeflateWrapping.raw, .zlib] + [3, 19, 7].map({ .gzip(head: head + [$0]) }) {
            let value = try #require(DeflateRecompression(content, parameters, wrapping).value)
            #expect(DeflatedStrings(Self.strings([value]), within: try TrialCost(effort: .standard)) != nil)
            try SegmentTests.expectSame([Self.blobs([value])])
        }
    }

    @Test func `trials of streams give back what they took of the segment`() throws {
        var dice = RepeatableRandom(seed: 7)
        let parameters = try #require(DeflateParameters(level: 9, memoryLevel: 8, windowBits: 15))
        // Lines that all streams have.
        let lines = (0..<20).map { _ in dice.bytes(80) }
        let values = try (0..<40).map { _ in
            let content = (0..<200).flatMap { _ in lines[Int.random(in: 0..<20, using: &dice)] }
            return try #require(DeflateRecompression(content, parameters, .zlib).value)
        }
        let cost = try TrialCost(effort: .standard)
        let before = cost.room
        let areas = try Self.blobs(values + values.reversed()).encode(.modern, effort: .standard, cost: cost)
        var room = cost.room
        room += areas.streams
        #expect(room == before)
        #expect(areas.streams.growth > values.count * 3000)
    }

    private static let pictureMark: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// - Parameter width: So many points, and as many rows of them, of a byte each.
    private static func picture(_ width: Int, _ pieces: [[UInt8]]) -> [UInt8] {
        func bytes(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] { bytes(data.count) + type.utf8 + data + [9, 8, 7, 6] }
        return pictureMark + chunk("IHDR", bytes(width) + bytes(width) + [8, 0, 0, 0, 0]) + chunk("gAMA", [0, 0, 1, 2])
            + pieces.flatMap { chunk("IDAT", $0) } + chunk("IEND", [])
    }

    @Test func `streams inside values go by what is in them, and come back between what stands around them`() throws {
        var dice = RepeatableRandom(seed: 6)
        let content = (0..<500).flatMap { _ in Array("word \(Int.random(in: 0...63, using: &dice)),".utf8) }
        let parameters = try #require(DeflateParameters(level: 6, memoryLevel: 8, windowBits: 15))
        func stream(_ wrapping: DeflateWrapping) -> [UInt8] {
            DeflateRecompression(content, parameters, wrapping).value ?? []
        }
        let named: [UInt8] =
            [0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 0, 255, 2, 0, 5, 6] + Array("a.txt\0why\0".utf8) + [7, 7]
        let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &dice) | 8 }
        let taken: [[UInt8]] = [
            [1] + stream(.raw), stream(.raw) + [0], [0, 0, 1, 44] + stream(.zlib), stream(.zlib) + noise,
            noise + stream(.gzip(head: named)) + noise, stream(.gzip(head: named)),
            Self.picture(70, [stream(.zlib)]),
        ]
        for value in taken {
            let found = try #require(
                DeflatedStrings(Self.strings([value]), within: try TrialCost(effort: .smallest)), "\(value.prefix(80))")
            #expect(Array(found.contents[0]) == content)
            #expect(found.heads.totalLength + found.tails.totalLength < value.count / 2)
            try SegmentTests.expectSame([Self.blobs([value])], .modern, .smallest)
        }
        try SegmentTests.expectSame([Self.blobs(taken + [content, []] + taken.reversed())], .modern, .smallest)
        let spoilt = taken.map { $0.dropLast($0.count / 3) + noise }
        try SegmentTests.expectSame([Self.blobs(spoilt)], .modern, .smallest)
        let half = stream(.zlib).count / 2
        let left: [[UInt8]] = [
            noise + noise + stream(.raw), Array(repeating: 0, count: 65) + stream(.zlib),
            Self.picture(70, [Array(stream(.zlib)[..<half]), Array(stream(.zlib)[half...])]),
            // So many points would be more than is taken.
            Self.picture(1 << 11, [stream(.zlib)]),
            Self.picture(70, [stream(.zlib)]).dropLast(40), Self.pictureMark + noise,
        ]
        for value in left {
            #expect(DeflatedStrings(Self.strings([value]), within: try TrialCost(effort: .smallest)) == nil)
            try SegmentTests.expectSame([Self.blobs([value])], .modern, .smallest)
        }
    }

    @Test func `looking for streams has an end, after which values go as they are`() throws {
        let parameters = try #require(DeflateParameters(level: 6, memoryLevel: 8, windowBits: 15))
        func stream(_ content: [UInt8]) -> [UInt8] { DeflateRecompression(content, parameters, .zlib).value ?? [] }
        let good = stream((0..<500).flatMap { Array("word \($0 % 61),".utf8) })
        let few = try TrialCost(effort: .standard)
        #expect(try #require(DeflatedStrings(Self.strings([good, good]), within: few)).makers.allSatisfy { $0 != 0 })
        #expect((1...20_000).contains(TrialCost.mostInflated - few.streams.bytesLeft))

        // Each stands for 1 MiB and has no end.
        let endless = Array(stream([UInt8](repeating: 0, count: 1 << 20)).dropLast(12))
        let values = [good] + [[UInt8]](repeating: endless, count: 600) + [good]
        let many = try TrialCost(effort: .standard)
        let makers = try #require(DeflatedStrings(Self.strings(values), within: many)).makers
        #expect(makers[0] != 0)
        #expect(makers[601] == 0)
        // The last of them ends within one piece of what is left.
        #expect((-17_000...0).contains(many.streams.bytesLeft))
        #expect(DeflatedStrings(Self.strings([good]), within: many) == nil)
        try SegmentTests.expectSame([Self.blobs(values)])
    }

    @Test func `what is inside the data of an archive that was deflated is taken apart too`() throws {
        let lists = try Self.lists("archive")
        let outer = try lists.map { list in
            try PropertyListSerialization.data(
                fromPropertyList: ["data": Data(list), "name": "outer"], format: .binary, options: 0)
        }
        let parameters = try #require(DeflateParameters(level: 5, memoryLevel: 8, windowBits: 15))
        let values = outer.compactMap { DeflateRecompression(Array($0), parameters, .raw).value }
        let alone = try SegmentTests.segment([Self.blobs(lists)]).count
        #expect(try SegmentTests.segment([Self.blobs(values)]).count < alone + 150)
        try SegmentTests.expectSame([Self.blobs(values)])
    }
}
