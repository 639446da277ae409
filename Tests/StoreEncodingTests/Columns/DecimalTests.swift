import Foundation
import RandomStores
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Texts that hold decimal numbers, through a segment and back.
@Suite struct DecimalTests {
    /// Texts of one kind, made from a seed.
    struct Maker: CustomTestStringConvertible, Sendable {
        let name: String
        /// By how much less they take than deflated as they are, at least, in hundredths.
        let gain: Int
        let make: @Sendable (inout RepeatableRandom) -> [String]

        var testDescription: String { name }
    }

    private static func spelled(_ number: Int, _ digits: Int) -> String {
        let power = (0..<digits).reduce(1) { power, _ in power * 10 }
        let fraction = "\(Int(number.magnitude) % power + power)".dropFirst()
        return (number < 0 ? "-" : "") + "\(Int(number.magnitude) / power)." + fraction
    }

    /// Steps of a random walk.
    private static func walk(_ count: Int, from start: Int, step: Int, _ dice: inout RepeatableRandom) -> [Int] {
        (0..<count).reduce(into: [start]) { walk, _ in
            walk.append(walk[walk.count - 1] + Int.random(in: -step...step, using: &dice))
        }
    }

    static let makers = [
        Maker(name: "polygons in JSON", gain: 35) { dice in
            (0..<40).map { _ in
                let x = walk(60, from: Int.random(in: -179_000_000...179_000_000, using: &dice), step: 9000, &dice)
                let y = walk(60, from: Int.random(in: -89_000_000...89_000_000, using: &dice), step: 9000, &dice)
                let points = zip(x, y).map { [Double($0) / 1e6, Double($1) / 1e6] }
                return "{\"type\": \"Polygon\", \"coordinates\": [\(points)]}"
            }
        },
        Maker(name: "lines in WKT", gain: 35) { dice in
            (0..<40).map { _ in
                let (x, y) = (
                    walk(50, from: 35_000_000, step: 900, &dice), walk(50, from: 560_000_000, step: 900, &dice)
                )
                return "LINESTRING(" + zip(x, y).map { spelled($0, 2) + " " + spelled($1, 2) }.joined(separator: ",")
                    + ")"
            }
        },
        Maker(name: "series of times and values", gain: 50) { dice in
            (0..<40).map { row in
                let values = walk(50, from: 2000, step: 30, &dice)
                let pairs = values.enumerated().map { "[\(1_700_000_000 + row * 3000 + $0 * 60),\(Double($1) / 100)]" }
                return "[" + pairs.joined(separator: ",") + "]"
            }
        },
        Maker(name: "rows of a table", gain: 25) { dice in
            (0..<30).map { _ in
                let rows = (0..<20).map { row in
                    let prices = (0..<3).map { _ in spelled(Int.random(in: 9000...11_000, using: &dice), 2) }
                    return (["2023-0\(row % 9 + 1)-1\(row % 7)"] + prices).joined(separator: ",")
                }
                return rows.joined(separator: "\n")
            }
        },
        Maker(name: "reals with noise at their ends", gain: 12) { dice in
            (0..<30).map { _ in
                "\((0..<50).map { _ in Double(Int.random(in: 1...99_999, using: &dice)) * 0.001 * 1.1 })"
            }
        },
    ]

    private static func group(_ texts: [String]) -> RowGroup {
        RowGroup(texts.map { [.text($0)] }, rowids: (0..<texts.count).map { Int64($0) })
    }

    @Test(arguments: makers, [1, 2] as [UInt64])
    func `decimal numbers go by their values, and come back as they were spelled`(maker: Maker, seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        var texts = maker.make(&dice)
        var strings = Strings()
        for text in texts { strings.append(Array(text.utf8)) }
        #expect(DecimalFields(of: strings, areAlike: false, in: []) != nil)
        let asText = try #require(try Deflate.raw(of: strings.bytes, level: 9)).count
        let size = try SegmentTests.segment([Self.group(texts)]).count
        #expect(size * 100 < asText * (100 - maker.gain), "\(size) of \(asText) bytes")
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
        let odd = [
            "-0.0", "00.5", "-", ".5", "5.", "1e-9", "9223372036854775807.1", "-12345678901234567890", "1.2.3",
            "0.10000000000000001", "05", "007.50", "-00.1",
        ]
        for index in texts.indices where index % 2 == 0 {
            let place = Int.random(in: 0...texts[index].count, using: &dice)
            let cut = texts[index].index(texts[index].startIndex, offsetBy: place)
            texts[index].insert(contentsOf: odd[index / 2 % odd.count], at: cut)
        }
        try SegmentTests.expectSame([Self.group(texts)])
        texts[texts.count / 2] += "\u{e}\u{f}"
        try SegmentTests.expectSame([Self.group(texts)])
    }

    /// A byte of one text may stand for a number of its own.
    @Test func `a byte that no field needs leaves the numbers apart`() throws {
        var dice = RepeatableRandom(seed: 7)
        var texts = Self.makers[1].make(&dice)
        let size = try SegmentTests.segment([Self.group(texts)]).count
        texts[20] += "\u{1b}"
        #expect(try SegmentTests.segment([Self.group(texts)]).count < size + 40)
        try SegmentTests.expectSame([Self.group(texts)])
    }

    @Test func `numbers and runs of digits of the same texts go apart, each as what they are`() throws {
        var dice = RepeatableRandom(seed: 8)
        let parts = (0..<3000).map { _ in
            let id = dice.bytes(12).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return (#""id":"\#(id)""#, #""at":[\#(Self.spelled(Int.random(in: 0...99_999_999, using: &dice), 6))]"#)
        }
        func size(_ texts: [String]) throws -> Int {
            try SegmentTests.expectSame([Self.group(texts)])
            return try SegmentTests.segment([Self.group(texts)]).count
        }
        let both = try size(parts.map { "{\($0.0),\($0.1)}" })
        #expect(both * 100 < (try size(parts.map(\.0)) + size(parts.map(\.1))) * 104)
    }

    /// Numbers are looked at in a few parts of long texts alone.
    @Test(arguments: 1...8) func `numbers in front of many fields, behind which runs of digits stand, come back`(
        fields: Int
    ) throws {
        var dice = RepeatableRandom(seed: UInt64(fields))
        let powers = (0..<fields).map { _ in Int.random(in: 0...5, using: &dice) }
        let texts = (0..<40).map { _ in
            let lines = (0..<160 / fields).map { _ in
                powers.map { Self.spelled(Int.random(in: 0...99_999_999, using: &dice), $0 + 1) }.joined(separator: ",")
            }
            let ids = (0..<30).map { _ in dice.bytes(12).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined() }
            return lines.joined(separator: "\n") + "\n" + ids.joined(separator: "\n")
        }
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
    }

    /// Those of services that count in milliseconds.
    @Test func `numbers of nineteen digits go by their values, as far as 64 bits have them`() throws {
        var dice = RepeatableRandom(seed: 9)
        let ids = (0..<500).map { _ in "\(Int64.max - Int64.random(in: 0...1 << 50, using: &dice))" }
        let size = try SegmentTests.segment([Self.group(ids)]).count
        for more in ["1", "9223372036854775807", "9223372036854775808", "09223372036854775807"] {
            let texts = ids + [more]
            #expect(try SegmentTests.segment([Self.group(texts)]).count < size + 60)
            try SegmentTests.expectSame([Self.group(texts)])
            try SegmentTests.expectSame([Self.group(texts.map { "[\($0), \($0).25, -\($0)]" })])
        }
    }

    /// As times, versions, addresses and the names of files have them.
    @Test(arguments: 0..<32 as Range<UInt64>) func `numbers of random forms take little more than they say`(
        seed: UInt64
    ) throws {
        let choices = Choices(seed: seed)
        let fields = (0..<1 + choices.below(5)).map { _ in
            let digits = 1 + choices.below(6)
            let most = 2 + choices.below((0..<digits).reduce(1) { power, _ in power * 10 })
            let separator = choices.pick(["-", ":", "/", " ", ".", "T", ", ", "x", ";v", "=\"", "_"])
            return (most, choices.chance(50) ? digits : 0, separator)
        }
        let beginning = choices.pick(["", "IMG_", "v", "at ", "{\"time\": \"", "a"])
        let othersPercent = choices.pick([0, 0, 1, 4])
        let rows = 3000
        let texts = (0..<rows).map { _ in
            guard !choices.chance(othersPercent) else { return choices.pick(["", "none", "n/a 7"]) }
            return fields.reduce(beginning) { text, field in
                let digits = String(choices.below(field.0))
                return text + String(repeating: "0", count: max(0, field.1 - digits.count)) + digits + field.2
            }
        }
        let bits = fields.reduce(1.0) { $0 + log2(Double($1.0)) }
        let size = try SegmentTests.segment([Self.group(texts)]).count
        #expect(Double(size) < bits / 8 * Double(rows) * 1.3 + 700, "SEED=\(seed) \(texts.prefix(3)): \(size) bytes")
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
    }

    @Test(
        arguments: [1, 2, 3] as [UInt64],
        ["0000123456789999....--- ,e\n", "012345678999...-- ,e\"\n\u{1}\u{2}\u{3}\u{e}\u{f}\u{1b}abcdef"])
    func `any text of digits comes back`(seed: UInt64, alphabet: String) throws {
        var dice = RepeatableRandom(seed: seed)
        let alphabet = Array(alphabet.utf8)
        for _ in 0..<200 {
            let texts = (0..<Int.random(in: 1...20, using: &dice)).map { _ in
                let size = Int.random(in: 0...200, using: &dice)
                return String(
                    decoding: (0..<size).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &dice)] },
                    as: UTF8.self)
            }
            try SegmentTests.expectSame([Self.group(texts)])
        }
    }

    @Test func `an altered segment of decimals ends in an error or in other rows`() throws {
        var dice = RepeatableRandom(seed: 5)
        let texts = Array(Self.makers[0].make(&dice).prefix(4))
        let content = try StoredSegment.bytes(of: SegmentTests.segment([Self.group(texts)]))
        SegmentTests.readAltered(content)
    }
}
