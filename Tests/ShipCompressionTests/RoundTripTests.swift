import ShipCompression
import ShipProtocol
import TestSupport
import Testing

@Suite struct `Bytes that are encoded` {
    /// Text-like bytes, which deflate well, and repeat beyond a block's own start.
    static func compressible(_ size: Int) -> [UInt8] {
        var bytes = Array((0..<97).map { "row \($0 * 7919) of the table; " }.joined().utf8)
        while bytes.count < size { bytes += bytes }
        return Array(bytes.prefix(size))
    }

    /// Around the sizes of blocks.
    static let sizes = [
        1, 2, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 524_287, 524_288, 524_289,
        1_048_576, 1_048_577, 4_194_305,
    ]

    @Test(arguments: sizes, [1, 4])
    func `come back as they were, whatever their number`(size: Int, cores: Int) async throws {
        let part = Self.compressible(size)
        let blocks = try await Encoding(cores: cores).blocks(of: [part])
        #expect(try decode(blocks) == [part])
        try expectOrder(blocks, of: [part])
        #expect(blocks.reduce(0) { $0 + $1.block.encoded.count } < max(64, size / 2))
        // A byte or two are not worth a stream of their own.
        let deflated = blocks.filter { $0.block.decodedSize > 2 }
        #expect(deflated.allSatisfy { $0.block.form == .zlib })
    }

    @Test func `come back as they were although they cannot be made smaller`() async throws {
        var random = RepeatableRandom(seed: 3)
        let part = random.bytes(200_000)
        let blocks = try await Encoding(cores: 2).blocks(of: [part])
        #expect(blocks.allSatisfy { $0.block.form == .stored && $0.block.encoded.count == $0.block.decodedSize })
        #expect(try decode(blocks) == [part])
    }

    @Test(arguments: [1, 4])
    func `of several parts come in the order of the parts, and empty parts have no blocks`(cores: Int) async throws {
        var random = RepeatableRandom(seed: 4)
        let parts = [Self.compressible(150_000), [], random.bytes(70_000), [], [], [7], Self.compressible(65_536), []]
        let blocks = try await Encoding(cores: cores).blocks(of: parts)
        #expect(Set(blocks.map(\.part)) == [0, 2, 5, 6])
        try expectOrder(blocks, of: parts)
        #expect(try decode(blocks, parts: parts.count) == parts)
    }

    @Test func `of no parts have no blocks`() async throws {
        #expect(try await Encoding(cores: 2).blocks(of: []).isEmpty)
        #expect(try await Encoding(cores: 2).blocks(of: [[], []]).isEmpty)
    }

    @Test(arguments: [1, 9])
    func `are the same on one core and on four, where the blocks are`(level: Int) async throws {
        // From 4 MiB on, blocks are as large as they get, with one core and with four.
        let part = Self.compressible(4 * 1_048_576)
        let one = try await Encoding(cores: 1, level: level).blocks(of: [part])
        #expect(try await Encoding(cores: 4, level: level).blocks(of: [part]).map(\.block) == one.map(\.block))
        #expect(try decode(one) == [part])
    }

    @Test func `are smaller at a higher level`() async throws {
        let part = Self.compressible(300_000).enumerated().map { $0 % 11 == 0 ? UInt8($0 / 11 % 251) : $1 }
        let (fast, small) = (
            try await Encoding(cores: 2, level: 1).blocks(of: [part]),
            try await Encoding(cores: 2, level: 9).blocks(of: [part])
        )
        #expect(small.reduce(0) { $0 + $1.block.encoded.count } < fast.reduce(0) { $0 + $1.block.encoded.count })
        #expect(try decode(fast) == [part])
        #expect(try decode(small) == [part])
    }

    @Test func `have a level from 1 to 9`() {
        #expect((-1...11).compactMap { CompressionLevel($0) } == (1...9).compactMap { CompressionLevel($0) })
        #expect(CompressionLevel(0) == nil)
        #expect(CompressionLevel(10) == nil)
        #expect(CompressionLevel(6) == .standard)
    }

    @Test func `alone have the size that one block would have`() throws {
        var random = RepeatableRandom(seed: 5)
        #expect(try Deflate.encodedSize(of: []) == 0)
        #expect(try Deflate.encodedSize(of: random.bytes(1000)) == 1000)
        #expect(try Deflate.encodedSize(of: Self.compressible(100_000)) < 5000)
    }

    private func expectOrder(_ blocks: [BlockEncoder.Placed], of parts: [[UInt8]]) throws {
        let wanted = parts.indices.filter { !parts[$0].isEmpty }.map { WantedPart($0, [.blocks]) }
        var sequence = PartSequence(wanted, CommonEncodings([]))
        var open: Int?
        for placed in blocks {
            if placed.part != open { _ = try sequence.admit(PartOpening(placed.part, as: .blocks)) }
            open = placed.part
            try sequence.admit(PartData(placed.block.bytes, isLast: placed.isLast))
        }
        #expect(sequence.isComplete)
    }

    private func decode(_ blocks: [BlockEncoder.Placed], parts: Int = 1) throws -> [[UInt8]] {
        var decoded = Array(repeating: [UInt8](), count: parts)
        for (part, blocks) in Dictionary(grouping: blocks, by: \.part) {
            var decoder = BlockDecoder(size: blocks.reduce(0) { $0 + Int64($1.block.decodedSize) })
            for placed in blocks { decoded[part] += try decoder.decode(placed.block.bytes, isLast: placed.isLast) }
        }
        return decoded
    }
}
