import StoreFiles
import TestSupport
import Testing

@testable import ShipProtocol

/// Shipments in a head or in a bundle.
@Suite struct InlineStepTests {
    @Test(arguments: 0..<UInt64(Soak.isOn ? 2000 : 100))
    func `a shipment comes out as it went in, for who holds where it begins`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var digests = (0..<5).map { _ in ContentDigest(sha256: random.bytes(32)) }
        let held = try Self.manifest(digests, over: nil, counter: 1)
        digests[Int.random(in: 0..<5, using: &random)] = ContentDigest(sha256: random.bytes(32))
        // A table that is gone cannot be left out.
        let isSmaller = seed % 5 == 0
        if isSmaller { digests.removeLast() }
        let next = try Self.manifest(digests, over: held, counter: 2)
        let (base, certificate) = (ManifestContent(of: held), random.bytes(380))
        let signature = Signature(value: random.bytes(Signature.size), certificate: certificate)
        let data = PartData(random.bytes(Int.random(in: 1...500, using: &random)), isLast: true)
        let frames: [Frame] = [.signature(signature), .manifest(next), .data(data), .end, .end]
        let preamble = Preamble(role: .producer, mode: .oneWay)
        let file = try preamble.encoded + frames.flatMap { try $0.serialized() }
        let other = Signature(value: random.bytes(Signature.size), certificate: certificate)
        var signed: [UInt8]?
        let step = try InlineStep(
            from: base.id, to: ManifestContent(of: next).id, counter: 2, file: file, over: base
        ) { payload in
            signed = payload
            return signature
        }
        #expect(step.step.size == Int64(step.shipment.count))
        #expect(step.shipment[FrameHeader.size] == (isSmaller ? 0 : 4))
        #expect(isSmaller || step.shipment.count < file.count - certificate.count)

        let read = try Self.read(try step.file(by: certificate, over: base))
        #expect(read.elements == [.preamble(preamble)] + frames.map(FrameParser.Element.frame))
        #expect(read.signed == signed)
        // On the way to another one it needs no signature of its own, and can be given one; whoever comes to the end of the last one does.
        let further = PublishedStep(
            from: step.step.to, to: base.id, counter: 3, size: step.step.size, sha256: nil
        ).signed(other.value)
        let both = [step, InlineStep(further, shipment: step.shipment)].signedAtEnd
        #expect(both.map { $0.step.signature } == [nil, further.signature])
        #expect([step, step].signedAtEnd == [step, step])
        let unsigned = try Self.read(try both[0].file(by: certificate, over: base))
        #expect(unsigned.elements == [.preamble(preamble)] + frames.dropFirst().map(FrameParser.Element.frame))
        #expect(try both[0].signed(over: base) { $0 == signed ? signature : other } == step)
        // Each of these few bytes would become as many as the base's manifest has.
        let again = try Frame.serialized(Array("\u{4}{}".utf8), as: .manifest).dropLast(4)
        let hostile = InlineStep(step.step, shipment: step.shipment + again + again)
        #expect(throws: ProtocolError.self) { try hostile.file(by: certificate, over: base) }
        for other in [nil, ManifestContent(of: next)] where !isSmaller {
            #expect(throws: ProtocolError.self) { try step.file(by: certificate, over: other) }
        }
    }

    private static func read(_ file: [UInt8]) throws -> (elements: [FrameParser.Element], signed: [UInt8]?) {
        var (parser, elements) = (FrameParser(), [FrameParser.Element]())
        parser.append(file)
        while let element = try parser.next() { elements.append(element) }
        try parser.finish()
        return (elements, parser.signedPayload)
    }

    /// Of a store whose tables have these digests.
    private static func manifest(_ digests: [ContentDigest], over base: Manifest?, counter: Int) throws -> Manifest {
        let tables = digests.enumerated().map { "\"t\($0)\":{\"digest\":\"\($1.hex.prefix(32))\",\"rows\":7}" }
        let over = base.map { "\"base\":{\"sha256\":\"\($0.store.sha256.hex)\"}," } ?? ""
        let (sha256, schema) = (ContentDigest(hashing: tables.joined().utf8).hex, ContentDigest(hashing: []).hex)
        let json = """
            {\(over)"counter":\(counter),"createdAt":"2026-11-20T19:04:05Z","name":"Recipes",\
            "producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},\
            "store":{"applicationID":0,"pageCount":1,"pageSize":4096,"schemaSHA256":"\(schema)","sha256":"\(sha256)",\
            "size":4096,"textEncoding":"UTF-8","userVersion":0},"tables":{\(tables.joined(separator: ","))}}
            """
        return try Manifest(decoding: Array(json.utf8))
    }
}
