import ShipProtocol
import TestSupport
import Testing

@Suite struct `The parser of frames` {
    private struct Outcome: Equatable {
        var elements: [FrameParser.Element] = []
        var error: ProtocolError?
    }

    /// What comes out when the bytes come in pieces, and then the link ends.
    private func outcome(of bytes: [UInt8], inPieces sizes: () -> Int) -> Outcome {
        var outcome = Outcome()
        var parser = FrameParser()
        var rest = bytes[...]
        do throws(ProtocolError) {
            while !rest.isEmpty {
                let piece = rest.prefix(sizes())
                rest = rest.dropFirst(piece.count)
                parser.append(Array(piece))
                while let element = try parser.next() { outcome.elements.append(element) }
            }
            try parser.finish()
        } catch {
            outcome.error = error
        }
        return outcome
    }

    @Test(arguments: try ProtocolVector.all(.stream))
    func `gives the same elements and errors however the bytes come`(vector: ProtocolVector) {
        let whole = outcome(of: vector.bytes) { Int.max }
        #expect(outcome(of: vector.bytes) { 1 } == whole)
        var random = RepeatableRandom(seed: 1)
        for longest in [4, 16, 300] {
            #expect(outcome(of: vector.bytes) { Int.random(in: 1...longest, using: &random) } == whole)
        }
    }

    @Test func `knows a foreign stream by its first byte`() {
        var parser = FrameParser()
        parser.append(Array("H".utf8))
        #expect(throws: ProtocolError.wrongMagic) { try parser.next() }
    }

    @Test func `judges type, then length, then checksum, then payload`() throws {
        func error(_ bytes: [UInt8]) -> ProtocolError? {
            var parser = FrameParser()
            parser.append(Preamble(role: .producer, mode: .oneWay).encoded + bytes)
            return #expect(throws: ProtocolError.self) {
                while try parser.next() != nil {}
                try parser.finish()
            }
        }
        #expect(error([0x7F, 0xFF, 0xFF, 0xFF, 0xFF]) == .unknownFrame(0x7F))
        #expect(error([0x02, 0x00, 0x40, 0x00, 0x02]) == .payloadTooLong(type: 2, length: 4_194_306, limit: 4_194_305))
        #expect(error([0x02, 0x00, 0x40, 0x00, 0x01]) == .truncated)
        #expect(error([0x02, 0x00, 0x00, 0x00, 0x01, 0x21, 0, 0, 0, 0]) == .damaged(.frame(2)))
        #expect(error(rawFrame(2, [0x21]))?.code == .badManifest)
    }

    /// A length is a promise of the other side's, and no reason to take memory.
    @Test(.enabled(if: MemoryUse.isMeaningful)) func `takes no memory for what has not come`() async {
        await #expect(processExitsWith: .success) {
            let announced = 1_049_617
            let before = try MemoryUse.current
            var parsers: [FrameParser] = []
            for _ in 0..<400 {
                var parser = FrameParser()
                parser.append(Preamble(role: .producer, mode: .oneWay).encoded)
                _ = try parser.next()
                var header: [UInt8] = [FrameType.data.rawValue]
                header.append(bigEndian: UInt32(announced))
                parser.append(header)
                #expect(try parser.next() == nil)
                parsers.append(parser)
            }
            let grown = try MemoryUse.current - before
            #expect(grown < 16 * announced, "\(grown) bytes for \(parsers.count) headers")
        }
    }

    @Test(.enabled(if: MemoryUse.isMeaningful))
    func `holds no more than a frame and a piece of input, however long the stream`() async {
        await #expect(processExitsWith: .success) {
            let frames = repeatElement(rawFrame(0x90, Array(repeating: 7, count: 60_000)), count: 4).joined()
            let piece = Array(frames) + rawFrame(0x81)
            var parser = FrameParser()
            parser.append(Preamble(role: .producer, mode: .oneWay).encoded)
            _ = try parser.next()
            let before = try MemoryUse.current
            for _ in 0..<400 {
                parser.append(piece)
                while try parser.next() != nil {}
            }
            try parser.finish()
            let grown = try MemoryUse.current - before
            #expect(grown < 16 * piece.count, "\(grown) bytes")
        }
    }
}
