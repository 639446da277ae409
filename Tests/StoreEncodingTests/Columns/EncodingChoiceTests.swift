import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Each encoding is chosen for values that are made for it, and gives them back.
@Suite struct EncodingChoiceTests {
    private static func encoder() throws -> ColumnEncoder {
        ColumnEncoder(effort: .standard, cost: try TrialCost(effort: .standard))
    }

    private static func source(_ areas: SegmentAreas) -> SegmentReader {
        SegmentReader(control: areas.control, numbers: areas.numbers, text: areas.text)
    }

    private static func noise(_ count: Int, _ range: ClosedRange<Int64>, seed: UInt64 = 1) -> [Int64] {
        var dice = RepeatableRandom(seed: seed)
        return (0..<count).map { _ in Int64.random(in: range, using: &dice) }
    }

    static let integers: [(IntegerTag, [Int64])] = [
        (.constant, [7, 7, 7]),
        (.constant, [.min]),
        (.arithmetic, [.max, .min, .min + 1]),
        (.arithmetic, (0..<500).map { 9 - 3 * $0 }),
        (.varints, [5, 1000, -3]),
        (.varints, noise(600, .min ... .max).enumerated().map { $1 >> Int64(8 * ($0 * $0 % 7 + 1)) }),
        (.deltaVarints, [1_000_000, 1_000_001, 1_000_003]),
        (.deltaVarints, noise(400, 1...60).reduce(into: [1 << 40]) { $0.append($0[$0.count - 1] + $1) }),
        (.planes, noise(4000, -70_000...70_000)),
        (.deltaPlanes, noise(4000, 0...60_000).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }),
        (.runs, noise(300, -9...9999).flatMap { [Int64](repeating: $0, count: Int(abs($0) % 29) + 1) }),
        (.packed, noise(3000, 0...1)),
        (.dictionary, noise(3000, 0...7).map { [3, 900_000, -77_777, 5_555_555, 12, 1 << 33, 99, 123_456][Int($0)] }),
    ]

    @Test(arguments: integers.indices) func `integers come back`(index: Int) throws {
        let (tag, values) = Self.integers[index]
        var areas = SegmentAreas()
        try Self.encoder().encode(values, into: &areas)
        #expect(areas.control.first == tag.rawValue)
        var source = Self.source(areas)
        #expect(try ColumnDecoder(rowids: nil).integers(values.count, from: &source) == values)
        #expect(source.isAtEnd)
    }

    static let reals: [(RealTag, [Double])] = [
        (.bits, noise(600, 0...100_000).map { 1e9 + Double($0).squareRoot() }),
        (.bytes, noise(600, .min ... .max).map { Double(bitPattern: UInt64(bitPattern: $0)) }),
        (.decimal, noise(600, 0...9999).map { Double($0) / 100 }),
        (.decimal, noise(600, -99_999_999...99_999_999).map { Double($0) / 1e6 }),
        (.decimal, [Double](repeating: 0.5, count: 100) + noise(500, 0...9999).map { Double($0) / 100 }),
        (.mostlyDecimal, noise(600, 0...9999).enumerated().map { Double($1) / ($0 % 50 == 7 ? 7 : 100) }),
        (.mostlyDecimal, noise(600, 0...9999).enumerated().map { Double($1) / ($0 < 5 ? 1e12 : 10) }),
        (.mostlyDecimal, [.nan, -0.0, .infinity] + noise(600, 0...9999).map { Double($0) / 100 }),
    ]

    @Test(arguments: reals.indices) func `reals come back`(index: Int) throws {
        let (tag, values) = Self.reals[index]
        let bits = values.map(\.bitPattern)
        var areas = SegmentAreas()
        try Self.encoder().encode(reals: bits, into: &areas)
        #expect(areas.control.first == tag.rawValue)
        var source = Self.source(areas)
        #expect(try ColumnDecoder(rowids: nil).reals(bits.count, from: &source) == bits)
        #expect(source.isAtEnd)
    }

    @Test func `reals that are no numbers keep their bits`() throws {
        let bits: [UInt64] = [0x7ff8_0000_0000_0001, 1 << 63, 0, .max, Double.infinity.bitPattern, 1]
        var areas = SegmentAreas()
        try Self.encoder().encode(reals: bits, into: &areas)
        var source = Self.source(areas)
        #expect(try ColumnDecoder(rowids: nil).reals(bits.count, from: &source) == bits)
    }

    private static let words = ["alpha", "be", "gamma ray", "delta wing", "", "epsilon", "zeta function"]

    static let strings: [(StringTag, [[UInt8]])] = [
        (.terminated, noise(100, 0...6).map { Array(words[Int($0)].utf8) }),
        (.lengths, noise(100, 0...6).map { Array(words[Int($0)].utf8) + [0] }),
        (.transposed, noise(300, 0...9).enumerated().map { [65, UInt8($0 / 8 + 1), 90, UInt8($1) + 1, 7, 7, 7] }),
        (.upperUUID, noise(50, 0 ... .max).map { uuid($0, uppercase: true) }),
        (.lowerUUID, noise(50, 0 ... .max).map { uuid($0, uppercase: false) }),
        (.upperHex, noise(50, 0 ... .max).map { hex($0, uppercase: true) }),
        (.lowerHex, noise(50, 0 ... .max).map { hex($0, uppercase: false) }),
        (.front, (0..<300).map { Array("a long way/of the same/\(letters($0 / 30))/\(letters($0 * 77))".utf8) }),
        (.decimals, noise(300, 1000...1999).map { Array("on \($0)-0\($0 % 9)-1\($0 % 7) at \($0 % 61)".utf8) }),
        (.propertyLists, (1..<40).map { list($0) }),
        (
            .arrays,
            (0..<20).map { row in
                noise(50, -900...900, seed: UInt64(row)).flatMap { number in
                    (0..<8).map {
                        UInt8(truncatingIfNeeded: (Double(2000 + number) / 100).bitPattern >> UInt64(8 * $0))
                    }
                }
            }
        ),
        (
            .decimals,
            (0..<60).map { row in
                let reals = noise(20, -99_999...99_999, seed: UInt64(row)).map { Double($0) / 100 }
                return Array("\(reals)".utf8)
            }
        ),
        (
            .digits,
            noise(60, 0 ... .max).enumerated().map { index, seed in
                let uuid = uuid(seed, uppercase: true)
                return index % 20 == 5 ? Array("none".utf8) : Array("/var/".utf8) + uuid + Array("}\(index % 3)".utf8)
            }
        ),
    ]

    /// 16 to 46 digits.
    private static func hex(_ seed: Int64, uppercase: Bool) -> [UInt8] {
        var dice = RepeatableRandom(seed: UInt64(bitPattern: seed))
        return (0..<(8 + seed % 16)).flatMap { _ -> [UInt8] in
            let digits = String(UInt8.random(in: 16...255, using: &dice), radix: 16, uppercase: uppercase)
            return Array(digits.utf8)
        }
    }

    private static func uuid(_ seed: Int64, uppercase: Bool) -> [UInt8] {
        var digits = hex(seed | 15, uppercase: uppercase).prefix(36)
        for dash in [8, 13, 18, 23] { digits[dash] = UInt8(ascii: "-") }
        return Array(digits)
    }

    private static func letters(_ value: Int) -> String {
        String(String(value, radix: 16).map { Character(UnicodeScalar(UInt8($0.hexDigitValue ?? 0) + 103)) })
    }

    /// A dictionary of one key and one array, as `CFPropertyListCreateData` writes it.
    private static func list(_ number: Int) -> [UInt8] {
        var list = Array("bplist00".utf8) + [0xd1, 1, 2, 0x55] + Array("items".utf8)
        var offsets: [UInt8] = [8, 11, 17]
        list += number < 15 ? [0xa0 | UInt8(number)] : [0xaf, 0x10, UInt8(number)]
        for index in 0..<number { list.append(UInt8(index + 3)) }
        for index in 0..<number {
            offsets.append(UInt8(list.count))
            list += [0x10, UInt8(index)]
        }
        let tableStart = UInt8(list.count)
        list += offsets
        list += [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, UInt8(offsets.count)]
        list += [UInt8](repeating: 0, count: 15)
        list.append(tableStart)
        return list
    }

    @Test(arguments: strings.indices) func `strings come back`(index: Int) throws {
        let (tag, values) = Self.strings[index]
        var strings = Strings()
        for value in values { strings.append(value) }
        var areas = SegmentAreas()
        try Self.encoder().encode(strings, into: &areas)
        #expect(areas.control.first == tag.rawValue)
        var source = Self.source(areas)
        let decoded = try ColumnDecoder(rowids: nil).strings(values.count, from: &source)
        #expect((0..<values.count).map { Array(decoded[$0]) } == values)
        #expect(source.isAtEnd)
    }

    private static let kind: [Cell] = [.text("red"), .null, .integer(5), .real(2.5), .blob([0, 0]), .text("blue")]

    private static let classes = noise(900, 0...58)

    /// The last of some columns, and how it is encoded.
    static let columns: [(tag: UInt8, number: Int, row: @Sendable (Int) -> [Cell])] = [
        (0x1f, 40, { [kind[$0 * $0 % 41 % 6], .text("\($0)")] }),
        (0x24, 200, { [$0 % 4 == 0 ? .integer(Int64($0 * 37)) : .real(Double($0 * 37) + 0.25)] }),
        (0x80, 300, { [kind[$0 * $0 % 53 % 6]] }),
        (0x81, 300, { [.integer(Int64($0 * $0 % 59)), .text("value \($0 * $0 % 59 % 23)")] }),
        (
            0x82, 900,
            { [.text(letters(Int(classes[$0]) * 7_919_777)), .text("v\($0 == 700 ? 99 : classes[$0] * 7 % 31)")] }
        ),
        (0x83, 300, { [.text("\($0 * $0 % 59)"), .text("\($0 * $0 % 59)")] }),
        (0x02, 300, { [.integer(Int64($0 * $0 % 997)), .integer(Int64($0 * $0 % 997) + 41)] }),
    ]

    @Test(arguments: columns.indices) func `columns come back`(index: Int) throws {
        let (tag, number, row) = Self.columns[index]
        let group = RowGroup((0..<number).map(row))
        var parser = try RecordParser(group, form: .modern)
        var encoder = try Self.encoder()
        var last = SegmentAreas()
        for _ in 0..<(try parser.columnCounts().max() ?? 0) {
            last = SegmentAreas()
            encoder.encode(try parser.nextColumn(), isInAllRows: true, into: &last)
        }
        if tag != 0x1f { #expect(last.control.first == tag) }
        try SegmentTests.expectSame([group])
    }

    /// A few of them are too few to show it.
    @Test func `long records of one length go byte by byte`() throws {
        var dice = RepeatableRandom(seed: 11)
        let blobs = (0..<300).map { row in
            (0..<64).flatMap { item -> [UInt8] in
                let time = UInt32(1_700_000_000 + row * 640 + item * 10)
                return withUnsafeBytes(of: time.littleEndian, Array.init) + dice.bytes(1) + [0, 1] + dice.bytes(1)
            }
        }
        let group = RowGroup(blobs.map { [.blob($0)] }, rowids: (0..<blobs.count).map { Int64($0) })
        let asTheyAre = try #require(try Deflate.raw(of: blobs.flatMap { $0 }, level: 9)).count
        #expect(try SegmentTests.segment([group]).count * 10 < asTheyAre * 9)
        try SegmentTests.expectSame([group])
    }

    @Test func `integers that follow others of their kind take little`() throws {
        var dice = RepeatableRandom(seed: 8)
        var next = [Int64](repeating: 0, count: 20).map { _ in Int64.random(in: 0...9_999_999, using: &dice) }
        let rows = (0..<2000).map { _ -> [Cell] in
            let kind = Int.random(in: 0..<20, using: &dice)
            next[kind] += 1
            return [.integer(Int64(kind)), .integer(next[kind])]
        }
        try SegmentTests.expectSame([RowGroup(rows)])
        #expect(try SegmentTests.segment([RowGroup(rows)]).count < 2000)
    }

    @Test func `a text that holds another column's takes little`() throws {
        let rows = (0..<400).map { row -> [Cell] in
            let name = String((row + 1) * 7_919_191, radix: 36)
            return [.text(name), .text("index.html#\(name)/more")]
        }
        let alone = try SegmentTests.segment([RowGroup(rows.map { [$0[0]] })]).count
        #expect(try SegmentTests.segment([RowGroup(rows)]).count < alone + 60)
        try SegmentTests.expectSame([RowGroup(rows)])
    }

    private static let wide = noise(800, .min ... .max)

    /// Two columns of the same values, which hardly come twice.
    static let twins: [@Sendable (Int) -> Cell] = [
        { .real(Double(wide[$0]) / 3) },
        { .blob(wide[$0..<$0 + 4].flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }) },
        { $0 % 7 == 0 ? .null : .integer(wide[$0]) },
        { $0 % 7 == 0 ? .null : .text(String(wide[$0], radix: 36)) },
        { .real(Double(wide[$0 % 97]) / 3) },
    ]

    @Test(arguments: twins.indices) func `values that stand in an earlier column take nothing`(index: Int) throws {
        let rows = (0..<700).map { row -> [Cell] in
            [.integer(Int64(row)), Self.twins[index](row), .text("\(row % 9)"), Self.twins[index](row)]
        }
        let alone = try SegmentTests.segment([RowGroup(rows.map { Array($0.prefix(3)) })]).count
        #expect(try SegmentTests.segment([RowGroup(rows)]).count < alone + 40)
        try SegmentTests.expectSame([RowGroup(rows)])
    }

    /// An array of texts, as `CFPropertyListCreateData` writes it.
    private static func list(of texts: [String]) -> [UInt8] {
        var list = Array("bplist00".utf8) + [0xaf, 0x10, UInt8(texts.count)] + texts.indices.map { UInt8($0 + 1) }
        var offsets = [8]
        for text in texts {
            offsets.append(list.count)
            list += [0x50 | UInt8(text.utf8.count)] + text.utf8
        }
        let tableStart = list.count
        for offset in offsets { list += [UInt8(offset >> 8), UInt8(offset & 0xff)] }
        list += [0, 0, 0, 0, 0, 0, 2, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(offsets.count)]
        return list + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, UInt8(tableStart >> 8), UInt8(tableStart & 0xff)]
    }

    @Test(arguments: [SegmentEffort.fast, .standard, .smallest])
    func `texts of property lists may be more than the rows, whose texts stand in an earlier column`(
        effort: SegmentEffort
    ) throws {
        let words = Self.noise(100 * 41, 0 ... .max).map { String($0, radix: 36) }
        let rows = (0..<100).map { row -> [Cell] in
            [.text(words[row * 41]), .blob(Self.list(of: Array(words[(row * 41 + 1)..<((row + 1) * 41)])))]
        }
        try SegmentTests.expectSame([RowGroup(rows)], .modern, effort)
    }

    @Test(arguments: [SegmentEffort.fast, .standard, .smallest])
    func `what follows from a column takes little, though that column is smaller without its classes`(
        effort: SegmentEffort
    ) throws {
        let prices = Self.noise(77, 100...999, seed: 2).map { Double($0) + 0.25 }
        let rows = Self.noise(50_000, 0...76).map { [.integer($0), .real(prices[Int($0)])] as [Cell] }
        let alone = try SegmentTests.segment([RowGroup(rows.map { [$0[0]] })], .modern, effort).count
        #expect(try SegmentTests.segment([RowGroup(rows)], .modern, effort).count < alone + 600)
        try SegmentTests.expectSame([RowGroup(rows)])
    }

    @Test(arguments: [SegmentEffort.fast, .standard, .smallest])
    func `keys are found again in another table, though they are smaller byte by byte`(effort: SegmentEffort) throws {
        var dice = RepeatableRandom(seed: 5)
        // As UUIDs of random bits are (RFC 9562 section 5.4).
        let keys = (0..<1000).map { _ -> [Cell] in
            var key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &dice) }
            (key[6], key[8]) = (key[6] & 0x0f | 0x40, key[8] & 0x3f | 0x80)
            return [.blob(key)]
        }
        let groups = [RowGroup(keys), RowGroup(keys.shuffled(using: &dice))]
        let alone = try SegmentTests.segment([groups[0]], .modern, effort).count
        #expect(try SegmentTests.segment(groups, .modern, effort).count < alone * 5 / 4)
        try SegmentTests.expectSame(groups)
    }

    /// Many rows whose values tell more of those beside them than of those above. Where rows end is said once more than in a
    /// stream of the rows alone, which takes a thousandth.
    private static let crossing: [@Sendable (Int) -> [Cell]] = [
        { [.text(digits($0 + 1)), .text(digits($0))] },
        { [.text(digits($0) + letters($0 * 77)), .text(digits($0) + letters($0 * 191))] },
        {
            [
                .blob(Array(hex(Int64($0), uppercase: true).prefix(20))), .text("a:" + digits($0)),
                .text(digits($0) + ":b"),
            ]
        },
    ]

    private static func digits(_ seed: Int) -> String {
        String(decoding: hex(Int64(seed &* 7_919_777) | 15, uppercase: false).prefix(24), as: UTF8.self)
    }

    @Test(arguments: crossing.indices, [SegmentEffort.fast, .standard, .smallest])
    func `many rows take no more by columns than by rows`(index: Int, effort: SegmentEffort) throws {
        let group = RowGroup((0..<4000).map(Self.crossing[index]))
        let plain = try #require(try Deflate.raw(of: group.records, level: effort.deflateLevel))
        #expect(try SegmentTests.segment([group], .modern, effort).count <= plain.count + plain.count / 500)
        try SegmentTests.expectSame([group])
    }
}
