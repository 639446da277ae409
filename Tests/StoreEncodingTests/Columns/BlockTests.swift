import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Blobs that are blocks of Snappy or LZ4, through a segment and back.
@Suite struct BlockTests {
    /// What is around a block.
    enum Wrapper: CaseIterable {
        case none
        case sized
        case marked
        case frame

        func around(_ block: [UInt8], of content: [UInt8]) -> [UInt8] {
            func size(_ count: Int, _ width: Int) -> [UInt8] {
                (0..<width).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            }
            return switch self {
            case .none: block
            case .sized: size(content.count, 4) + block
            case .marked: Array("mozLz40\0".utf8) + size(content.count, 4) + block
            case .frame:
                [0x04, 0x22, 0x4d, 0x18, 0x68, 0x40] + size(content.count, 8) + [0x5a] + size(block.count, 4) + block
                    + [0, 0, 0, 0]
            }
        }
    }

    private static func choices(_ seed: UInt64) -> Choices {
        var dice = RepeatableRandom(seed: seed)
        return Choices { UInt64.random(in: 0..<$0, using: &dice) }
    }

    private static func contents(_ choices: Choices) -> [[UInt8]] {
        (0..<40).map { row in
            Array(#"{"row":\#(row),"title":"\#(choices.sentence(5))","body":"\#(choices.sentence(60))"}"#.utf8)
        }
    }

    private static func group(_ blobs: [[UInt8]]) -> RowGroup {
        RowGroup(blobs.map { [.blob($0)] }, rowids: (0..<blobs.count).map { Int64($0) })
    }

    private static func corrections(of string: [UInt8], _ content: [UInt8]) -> Int? {
        guard let found = FoundBlock(in: string[...], limit: 1 << 20), found.content.bytes == content else {
            return nil
        }
        return found.repetition(in: string[...], hint: nil)?.corrections.count
    }

    /// By each parser and in each form what it predicts itself, which a block has without a correction.
    @Test(arguments: BlockParser.all.indices) func `a block of a known compressor is made again as it is`(parser: Int)
        throws
    {
        let choices = Self.choices(UInt64(parser))
        let isLZ4 = BlockParser.all[parser].unmatched > 0
        for form in isLZ4 ? [.lz4] : BlockForm.snappy {
            let way = BlockWay(parser: parser, form: form, wrapper: .none)
            let contents =
                Self.contents(choices) + [
                    Array(Self.contents(choices).joined()), choices.bytes(400) + choices.bytes(9),
                ]
            for content in contents {
                let block = try #require(way.string(of: content[...], []))
                for wrapper in isLZ4 ? Wrapper.allCases : [.none] {
                    let string = wrapper.around(block, of: content)
                    // Noise alone takes more than its content.
                    guard wrapper != .none || block.count < content.count else { continue }
                    let corrections = try #require(Self.corrections(of: string, content), "\(wrapper)")
                    #expect(corrections * 16 <= content.count)
                }
            }
            let blobs = contents.compactMap { way.string(of: $0[...], []) }
            let text = try #require(try Deflate.raw(of: Array(contents.joined()), level: 9)?.count)
            let size = try SegmentTests.segment([Self.group(blobs)]).count
            #expect(size < text * 11 / 10 + 100, "\(size) bytes, and \(text) of the contents")
            for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(blobs)], .modern, effort) }
        }
    }

    @Test(arguments: 1...(Soak.isOn ? 8 : 4) as ClosedRange<UInt64>)
    func `blocks of any compressor come back, whole or damaged`(
        seed: UInt64
    ) throws {
        let choices = Self.choices(seed)
        let isLZ4 = seed % 2 == 0
        let way = BlockMaking(choices, ofLZ4: isLZ4)
        let contents = Self.contents(choices) + [[], [1], choices.bytes(3000), [UInt8](repeating: 7, count: 140_000)]
        var blobs = contents.map { content in
            choices.pick(Wrapper.allCases).around(isLZ4 ? way.lz4(content) : way.snappy(content), of: content)
        }
        try SegmentTests.expectSame([Self.group(blobs)])
        for index in blobs.indices {
            switch choices.below(4) {
            case 0: blobs[index].removeLast(choices.below(blobs[index].count))
            case 1: blobs[index].insert(7, at: choices.below(blobs[index].count))
            case 2: blobs[index][choices.below(blobs[index].count)] ^= 0xff
            default: break
            }
        }
        try SegmentTests.expectSame([Self.group(blobs)])
    }

    /// Compressors that do not cut the content at 64 KiB make such blocks.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func `a match may reach back over the border of a block`(
        seed: UInt64
    )
        throws
    {
        let choices = Self.choices(seed)
        var content = choices.bytes(65_536 - choices.below(200))
        var items: [BlockItem] = []
        for number in 0..<12 {
            let literals = number == 0 ? content.count : choices.below(90)
            if number > 0 { content += choices.bytes(literals) }
            let (length, distance) = (4 + choices.below(50), 60 + choices.below(4000))
            for _ in 0..<length { content.append(content[content.count - distance]) }
            items.append(BlockItem(literals: literals, length: length, distance: distance))
        }
        items.append(BlockItem(literals: 0, length: 0, distance: 0))
        let block = try #require(BlockForm.snappy[0].bytes(of: [items], content[...]))
        #expect(BlockContent(snappy: block[...], limit: 1 << 20)?.bytes == content)
        for effort in SegmentTests.efforts {
            try SegmentTests.expectSame([Self.group([block, [5] + block])], .modern, effort)
        }
    }

    /// Work that grows with the square of the size would not come to an end here.
    @Test func `long blocks and such of short periods take time in proportion to their size`() throws {
        let choices = Self.choices(7)
        let long = (0..<30).flatMap { _ in Self.contents(choices).joined() }
        var period: [BlockItem] = []
        var content = choices.bytes(40)
        for _ in 0..<20_000 {
            let length = 4 + choices.below(20)
            // A byte between two matches, which goes on as they do: otherwise they are one.
            if !period.isEmpty { content.append(content[content.count - 40]) }
            for _ in 0..<length { content.append(content[content.count - 40]) }
            period.append(BlockItem(literals: period.isEmpty ? 40 : 1, length: length, distance: 40))
        }
        period.append(BlockItem(literals: 0, length: 0, distance: 0))
        let periodic = try #require(BlockForm.snappy[0].bytes(of: [period], content[...]))
        try SegmentTests.expectSame([
            Self.group([
                BlockMaking(choices, ofLZ4: true).lz4(long), BlockMaking(choices, ofLZ4: false).snappy(long), periodic,
            ])
        ])
    }

    /// What makes a block again follows from its items, whatever they are.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `corrections lead to any items`(seed: UInt64) throws {
        let choices = Self.choices(seed)
        let content = Array(Self.contents(choices).joined())
        let way = BlockMaking(choices, ofLZ4: seed % 2 == 0)
        let block = seed % 2 == 0 ? way.lz4(content) : way.snappy(content)
        let found = try #require(FoundBlock(in: block[...], limit: 1 << 20))
        for (index, parser) in BlockParser.all.enumerated() where parser.blockSize == nil {
            let items = try #require(found.content.blocks(of: nil))
            var parse = BlockParse(content[...], parser)
            var (corrections, before) = ([BlockCorrection](), 0)
            for item in items[0] {
                if parse.predicts(item) {
                    before += 1
                } else {
                    corrections.append(parse.correction(for: item, before: before))
                    before = 0
                }
                parse.pass(item)
            }
            let form = found.isLZ4 ? BlockForm.lz4 : BlockForm.snappy[0]
            let made = BlockWay(parser: index, form: form, wrapper: .none).string(of: content[...], corrections[...])
            #expect(made == form.bytes(of: items, content[...]))
        }
    }

    @Test func `an altered segment of blocks ends in an error or in other rows`() throws {
        let choices = Self.choices(5)
        let way = BlockMaking(choices, ofLZ4: false)
        let blobs = Self.contents(choices).prefix(6).map { [9] + way.snappy($0) }
        let content = try StoredSegment.bytes(of: SegmentTests.segment([Self.group(Array(blobs))]))
        SegmentTests.readAltered(content)
    }
}
