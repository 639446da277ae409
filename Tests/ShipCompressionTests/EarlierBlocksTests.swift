import ShipCompression
import ShipProtocol
import Testing

/// Blocks of a part that go on where they were broken off.
@Suite struct `An encoder of blocks that goes on after earlier ones` {
    private func blocks(
        of part: [UInt8], cores: Int, after earlier: EarlierPieces? = nil, and others: [BlockEncoder.Source] = []
    ) async throws -> [BlockEncoder.Placed] {
        let source = BlockEncoder.Source(part: 0, size: Int64(part.count), goingOnAfter: earlier) {
            Array(part[Int($0)...].prefix($1))
        }
        var blocks: [BlockEncoder.Placed] = []
        try await BlockEncoder(CompressionSettings(.fastest), cores: cores).encode([source] + others) {
            blocks.append($0)
        }
        return blocks
    }

    @Test func `makes the blocks that follow, and those of other parts as ever`() async throws {
        let part = `Bytes that are encoded`.compressible(5 * 1_048_576 + 77)
        let whole = try await blocks(of: part, cores: 1)
        let notes = whole.map { PieceNote(UInt64($0.block.decodedSize), isLast: $0.isLast) }
        #expect(whole.count > 4)
        for count in 0...whole.count {
            // Other cores, other sizes of blocks.
            let earlier = EarlierPieces(Array(notes[..<count])) { whole[$0].block.bytes }
            let rest = try await blocks(of: part, cores: 4, after: earlier, and: [Encoding.source(1, [1, 2, 3])])
            #expect(rest.last?.part == 1 && rest.last?.isLast == true)
            var decoder = BlockDecoder(size: Int64(part.count))
            var decoded: [UInt8] = []
            for placed in whole[..<count] + rest.dropLast() {
                decoded += try decoder.decode(placed.block.bytes, isLast: placed.isLast)
            }
            #expect(decoded == part)
        }
        let full = Array(repeating: PieceNote(1_048_576, isLast: false), count: 5)
        let bad: [[PieceNote]] = [
            [PieceNote(0, isLast: false)], [PieceNote(1_048_577, isLast: false)], [PieceNote(.max >> 1, isLast: false)],
            [PieceNote(1000, isLast: true)], full + full, full + [PieceNote(77, isLast: false)],
        ]
        for notes in bad {
            await #expect(throws: EarlierPieces.Mismatch.self) {
                _ = try await blocks(of: part, cores: 1, after: EarlierPieces(notes) { _ in [] })
            }
        }
    }
}
