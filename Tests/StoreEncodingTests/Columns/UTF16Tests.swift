import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Texts in UTF-16, through a segment and back.
@Suite struct UTF16Tests {
    /// What apps keep, of one kind.
    enum Kind: CaseIterable {
        case prose, russian, chinese, documents

        func text(_ dice: inout RepeatableRandom) -> String {
            switch self {
            case .prose: Self.words(of: Array("etaoinshrdlu"), 30, &dice) + " – né 1850 🚢"
            case .russian: Self.words(of: Array("оеаинтсрвлкм"), 30, &dice) + ", №7."
            case .chinese:
                String(
                    String.UnicodeScalarView(
                        (0..<80).compactMap { _ in
                            let (first, second) = (
                                UInt32.random(in: 0..<900, using: &dice), UInt32.random(in: 0..<900, using: &dice)
                            )
                            return Unicode.Scalar(0x4e00 + min(first, second) * 23)
                        })) + "。"
            case .documents:
                "{\"id\": \"\(dice.next())\", \"text\": \"\(Self.words(of: Array("etaoinshrdlu"), 12, &dice))\"}"
            }
        }

        /// Some words come far more often than others.
        private static func words(of letters: [Character], _ count: Int, _ dice: inout RepeatableRandom) -> String {
            (0..<count).map { _ in
                var number = min(Int.random(in: 1...3000, using: &dice), Int.random(in: 1...3000, using: &dice))
                var word = ""
                while number > 0 {
                    word.append(letters[number * 7 % letters.count])
                    number /= 6
                }
                return word
            }.joined(separator: " ")
        }
    }

    /// SQLite's numbers for UTF-16.
    static let encodings: [UInt32] = [2, 3]

    private static func texts(_ kind: Kind, seed: UInt64 = 1) -> [String] {
        var dice = RepeatableRandom(seed: seed)
        return (0..<400).map { _ in kind.text(&dice) }
    }

    private static func bytes(_ texts: [String], _ encoding: UInt32) -> [[UInt8]] {
        texts.map { $0.bytes(textEncoding: encoding) }
    }

    private static func group(_ values: [[UInt8]], isText: Bool = false) -> RowGroup {
        RowGroup(values.map { [isText ? .badText($0) : .blob($0)] }, rowids: (0..<values.count).map { Int64($0) })
    }

    /// The first bytes of the control area, and the strings that come of all.
    private static func encoded(_ values: [[UInt8]], _ effort: SegmentEffort) throws -> (head: [UInt8], [[UInt8]]) {
        var strings = Strings()
        for value in values { strings.append(value) }
        var areas = SegmentAreas()
        ColumnEncoder(effort: effort, cost: try TrialCost(effort: effort)).encode(strings, into: &areas)
        var source = SegmentReader(control: areas.control, numbers: areas.numbers, text: areas.text)
        let decoded = try ColumnDecoder(rowids: nil).strings(values.count, from: &source)
        #expect(source.isAtEnd)
        return (Array(areas.control.prefix(2)), (0..<values.count).map { Array(decoded[$0]) })
    }

    @Test(arguments: Kind.allCases, encodings) func `they go as UTF-8, and come back in their order`(
        kind: Kind, encoding: UInt32
    ) throws {
        let values = Self.bytes(Self.texts(kind), encoding)
        // Without words, which take more time, Chinese in UTF-8 takes more bytes.
        for effort in SegmentTests.efforts where kind != .chinese || effort != .fast {
            let (head, decoded) = try Self.encoded(values, effort)
            #expect(head == [StringTag.utf16.rawValue, encoding == 2 ? 0 : 1])
            let isSame = decoded == values
            #expect(isSame)
        }
    }

    @Test(arguments: Kind.allCases, encodings) func `they take hardly more than in UTF-8`(
        kind: Kind, encoding: UInt32
    ) throws {
        let texts = Self.texts(kind, seed: 2)
        let size = try SegmentTests.segment([Self.group(Self.bytes(texts, encoding), isText: true)]).count
        let other = try SegmentTests.segment([Self.group(texts.map { Array($0.utf8) }, isText: true)]).count
        #expect(size <= other + 40, "\(size) and \(other) bytes")
    }

    @Test(arguments: Kind.allCases, encodings) func `one string that is no text in UTF-16 keeps all as they are`(
        kind: Kind, encoding: UInt32
    ) throws {
        let values = Self.bytes(Self.texts(kind), encoding)
        let surrogates: [[UInt8]] = encoding == 2 ? [[0x3d, 0xd8], [0xa2, 0xde]] : [[0xd8, 0x3d], [0xde, 0xa2]]
        let (high, low) = (surrogates[0], surrogates[1])
        for other in [[65], [65, 0, 66], high, low, low + high, high + high + low, [65, 0] + high] as [[UInt8]] {
            var mixed = values
            mixed[217] += other
            let (head, decoded) = try Self.encoded(mixed, .standard)
            #expect(head.first != StringTag.utf16.rawValue)
            let isSame = decoded == mixed
            #expect(isSame)
        }
        var paired = values
        paired[217] += high + low
        #expect(try Self.encoded(paired, .standard).1 == paired)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `any units come back, and single strings`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let units: [[ClosedRange<UInt16>]] = [
            [0x20...0x7e], [0...0x7f, 0xfeff...0xfeff], [0x20...0x7e, 0x400...0x45f],
            [0x4e00...0x9fff, 0x3001...0x3002],
            [0x20...0x7e, 0xd7fe...0xe001], [0...0xffff],
        ]
        for round in 0..<120 {
            let (ranges, isLittle) = (units[round % units.count], Bool.random(using: &dice))
            let values = (0..<Int.random(in: 1...30, using: &dice)).map { _ -> [UInt8] in
                let count = Int.random(in: 0...120, using: &dice)
                let bytes = (0..<count).flatMap { _ -> [UInt8] in
                    let range = ranges[Int.random(in: 0..<ranges.count, using: &dice)]
                    let unit = UInt16.random(in: range, using: &dice)
                    // Most surrogates are pairs.
                    if 0xd800..<0xe000 ~= unit, Int.random(in: 0..<9, using: &dice) > 0 {
                        return isLittle
                            ? [0x3d, 0xd8, UInt8(unit & 0xff), 0xde] : [0xd8, 0x3d, 0xde, UInt8(unit & 0xff)]
                    }
                    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
                    return isLittle ? [low, high] : [high, low]
                }
                return Int.random(in: 0..<300, using: &dice) == 0 ? bytes + [7] : bytes
            }
            try SegmentTests.expectSame([Self.group(values, isText: round % 2 == 0)])
            try SegmentTests.expectSame([Self.group(Array(values.prefix(1)))])
        }
    }

    @Test func `an altered segment of them ends in an error or in other rows`() throws {
        let values = Self.bytes(Array(Self.texts(.prose, seed: 5).prefix(40)), 2)
        let content = try StoredSegment.bytes(of: SegmentTests.segment([Self.group(values)]))
        SegmentTests.readAltered(content)
    }

    @Test func `texts that would become too long are refused`() throws {
        let size = SegmentLimits.builtSize / 2 + 1
        var areas = SegmentAreas()
        for tag in [StringTag.utf16.rawValue, 0, StringTag.lengths.rawValue, IntegerTag.constant.rawValue] {
            areas.tag(tag)
        }
        areas.signed(Int64(size))
        var source = SegmentReader(control: areas.control, numbers: [], text: [UInt8](repeating: 65, count: size))
        #expect(throws: CompressionError.damaged(.segmentLimit)) {
            try ColumnDecoder(rowids: nil).strings(1, from: &source)
        }
    }
}
