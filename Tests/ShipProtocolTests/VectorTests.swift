import ShipProtocol
import TestSupport
import Testing

/// What the protocol's examples say is what this implementation makes of them. Blocks are decoded in the tests of
/// ShipCompression, streams and dialogues in those of ShipStore.
@Suite struct `The protocol's vectors` {
    @Test func `are of every kind, and all there`() throws {
        let vectors = try ProtocolVector.all()
        #expect(vectors.count >= 500)
        #expect(Set(vectors.map(\.kind)) == Set(ProtocolVector.Kind.allCases))
        #expect(Set(vectors.map(\.name)).count == vectors.count)
    }

    @Test(arguments: try ProtocolVector.all(.preamble))
    func `a preamble is judged as its vector says`(vector: ProtocolVector) throws {
        let role: Preamble.Role = try #require(vector["reader"]) == "producer" ? .producer : .consumer
        expect(vector) {
            var parser = FrameParser()
            parser.append(vector.bytes)
            guard case .preamble(let preamble) = try parser.next() else {
                try parser.finish()
                return []
            }
            let version = try Preamble(role: role, mode: .twoWay).sessionVersion(with: preamble)
            #expect(vector["session-version"] == "\(version)")
            try parser.finish()
            return DecodedValues(preamble).lines
        }
    }

    @Test(arguments: try ProtocolVector.all(.header))
    func `a header is judged as its vector says`(vector: ProtocolVector) {
        expect(vector) {
            let header = try FrameHeader(decoding: vector.bytes)
            let type = String(vector.bytes[0], radix: 16, uppercase: true)
            return [
                "value.length: \(header.payloadLength)", "value.type: 0x\(type.count == 1 ? "0" : "")\(type)",
            ]
        }
    }

    @Test(arguments: try ProtocolVector.all(.frames))
    func `frames are cut as their vector says`(vector: ProtocolVector) {
        var found: [ProtocolVector.Field] = []
        expect(vector) {
            var parser = FrameParser()
            parser.append(Preamble(role: .producer, mode: .twoWay).encoded + vector.bytes)
            _ = try parser.next()
            var rest = vector.bytes[...]
            while let isKnown = try isNextKnown(&parser) {
                let header = try FrameHeader(decoding: rest)
                found.append(.init(key: isKnown ? "frame" : "passed-over", value: text(rest[rest.startIndex], header)))
                rest = rest.dropFirst(FrameHeader.size + header.payloadLength + 4)
            }
            try parser.finish()
            #expect(found == vector.fields)
            return []
        }
    }

    /// Whether the next frame's type is known; what its payload says does not count here.
    private func isNextKnown(_ parser: inout FrameParser) throws(ProtocolError) -> Bool? {
        do throws(ProtocolError) {
            switch try parser.next() {
            case nil: return nil
            case .unknownOptionalFrame: return false
            case .frame, .preamble: return true
            }
        } catch {
            guard case .badMessage = error else { throw error }
            return true
        }
    }

    private func text(_ type: UInt8, _ header: FrameHeader) -> String {
        let digits = String(type, radix: 16, uppercase: true)
        return "0x\(digits.count == 1 ? "0" : "")\(digits) \(header.payloadLength)"
    }

    @Test(arguments: try ProtocolVector.all(.manifest))
    func `a manifest is judged as its vector says`(vector: ProtocolVector) {
        expect(vector) {
            let decoded = try frame(.manifest, vector.bytes)
            var consumer = ConsumerDialogue(taking: CommonEncodings([]))
            _ = try consumer.receive(.preamble(Preamble(role: .producer, mode: .oneWay)))
            guard case .manifest(let manifest) = decoded,
                case .consider(var shipment)? = try consumer.receive(.frame(.manifest(manifest)))
            else { return [] }
            try shipment.accept()
            return DecodedValues(.manifest(manifest)).lines
        }
    }

    @Test(arguments: try ProtocolVector.all(.content))
    func `what counts of a manifest is written as its vector says`(vector: ProtocolVector) throws {
        let content = ManifestContent(of: try Manifest(decoding: vector.bytes))
        #expect(content.json == vector.bytes(labelled: "content"))
        #expect(content.id.hex == vector["id"])
    }

    @Test(arguments: try ProtocolVector.all(.part))
    func `the opening of a part is judged as its vector says`(vector: ProtocolVector) { expectMessage(.part, vector) }

    @Test(arguments: try ProtocolVector.all(.data))
    func `data are judged as their vector says`(vector: ProtocolVector) { expectMessage(.data, vector) }

    @Test(arguments: try ProtocolVector.all(.hello))
    func `a greeting is judged as its vector says`(vector: ProtocolVector) { expectMessage(.hello, vector) }

    @Test(arguments: try ProtocolVector.all(.answer))
    func `an answer is judged as its vector says`(vector: ProtocolVector) { expectMessage(.answer, vector) }

    @Test(arguments: try ProtocolVector.all(.receipt))
    func `a receipt is judged as its vector says`(vector: ProtocolVector) { expectMessage(.receipt, vector) }

    @Test(arguments: try ProtocolVector.all(.refusal))
    func `a refusal is judged as its vector says`(vector: ProtocolVector) { expectMessage(.refusal, vector) }

    @Test(arguments: try ProtocolVector.all(.cancel))
    func `a cancellation is judged as its vector says`(vector: ProtocolVector) { expectMessage(.cancel, vector) }

    private func expectMessage(_ type: FrameType, _ vector: ProtocolVector) {
        var offer: [ManifestContent] = []
        if let content = vector.bytes(labelled: "content") {
            offer = [vector.bytes(labelled: "held"), content].compactMap(\.self).map { ManifestContent(json: $0) }
        }
        expect(vector) { try frame(type, vector.bytes, answering: offer).map { DecodedValues($0).lines } ?? [] }
    }

    @Test(arguments: try ProtocolVector.all(.holdings))
    func `a holdings file is judged as its vector says`(vector: ProtocolVector) {
        expect(vector) { DecodedValues(try HoldingsFile(decoding: vector.bytes)).lines }
    }

    /// - Parameter read: Gives the decoded values; what it throws must be what the vector says.
    private func expect(_ vector: ProtocolVector, read: () throws -> [String]) {
        var (values, code) = ([String](), String?.none)
        do {
            values = try read()
        } catch let error as ProtocolError {
            code = error.code.rawValue
        } catch {
            Issue.record("\(error)")
        }
        #expect(code == vector.error)
        #expect(values == (vector.error == nil ? vector.statedValues : []))
    }
}
