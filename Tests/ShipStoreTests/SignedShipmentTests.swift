import DeviceTrust
import Foundation
import ShipProtocol
import ShipStoreNetwork
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A signed shipment that was changed on its way, by somebody who makes every CRC-32 good.
@Suite struct `A signed shipment` {
    private let folder: ScratchFolder
    private let device: Device
    private let file: FilePath
    private let bytes: [UInt8]
    private let elements: [StreamElement]

    init() async throws {
        folder = try ScratchFolder()
        let store = folder.path.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('Borscht'), ('Dal')")
        device = Device(folder: folder.path.appending("device"))
        file = folder.path.appending("a.shipment")
        var options = Producer.Options()
        options.device = device
        options.signsAlways = true
        _ = try await Producer(store, options: options).send(to: .file(file))
        let open = try OpenFile.reading(file)
        bytes = try open.read(Int(try open.size), at: 0)
        elements = try StreamElement.all(in: bytes)
        try #require(elements.prefix(3).map(\.type) == [nil, .signature, .manifest])
    }

    /// What becomes of a stream in which the checksum of one frame has been made good.
    private func end(of stream: [UInt8], mending range: Range<Int>) -> ShipmentError? {
        var stream = stream
        var checksum: [UInt8] = []
        checksum.append(bigEndian: UInt32(crc32Of: stream[range].dropLast(4)))
        stream.replaceSubrange(range.suffix(4), with: checksum)
        var consumer = MemoryConsumer()
        do throws(ShipmentError) {
            try consumer.receive(stream)
            try consumer.linkEnded()
            return consumer.refusals.first
        } catch {
            return error
        }
    }

    @Test func `comes in as it is`() async throws {
        #expect(end(of: bytes, mending: elements[1].range) == nil)
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        let receipt = try #require(try await consumer.receive(from: .file(file)).first)
        #expect(receipt.outcome == .installed)
        #expect(try consumer.inbox.open().originRecord(of: receipt.name)?.producer.bytes == device.identity().id.bytes)
    }

    @Test func `does not, with any byte of its signature changed`() {
        let range = elements[1].range
        for index in range.dropFirst(FrameHeader.size).dropLast(4) {
            var changed = bytes
            changed[index] ^= UInt8(1 << (index % 8))
            guard case .signature? = end(of: changed, mending: range) else {
                Issue.record("byte \(index - range.lowerBound)")
                continue
            }
        }
    }

    @Test func `does not, with any bit of its manifest changed`() {
        let range = elements[2].range
        for index in range.dropFirst(FrameHeader.size).dropLast(4) {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(end(of: changed, mending: range) != nil, "bit \(bit) of byte \(index - range.lowerBound)")
            }
        }
    }

    @Test func `does not, with its manifest packed otherwise`() throws {
        var parser = FrameParser()
        parser.append(bytes)
        var manifest: Manifest?
        while let element = try parser.next() { if case .frame(.manifest(let found)) = element { manifest = found } }
        let json = (try #require(manifest)).jsonBytes
        var frame: [UInt8] = [FrameType.manifest.rawValue]
        frame.append(bigEndian: UInt32(json.count + 1))
        frame += [0] + json + [0, 0, 0, 0]
        let range = elements[2].range
        let changed = bytes[..<range.lowerBound] + frame + bytes[range.upperBound...]
        let failure = end(of: Array(changed), mending: range.lowerBound..<range.lowerBound + frame.count)
        #expect(failure == .signature(.wrong))
    }

    @Test func `does not, cut anywhere`() {
        for length in bytes.indices {
            var consumer = MemoryConsumer()
            #expect(throws: ShipmentError.self) {
                try consumer.receive(Array(bytes[..<length]))
                try consumer.linkEnded()
            }
        }
    }

    @Test func `is judged before anything is staged`() async throws {
        var changed = bytes
        changed[elements[1].range.lowerBound + FrameHeader.size] ^= 1
        var checksum: [UInt8] = []
        checksum.append(bigEndian: UInt32(crc32Of: changed[elements[1].range].dropLast(4)))
        changed.replaceSubrange(elements[1].range.suffix(4), with: checksum)
        // Nothing comes after the manifest: who waited for more would say that the stream ends early.
        let forged = folder.path.appending("forged.shipment")
        try OpenFile.creating(forged).write(Array(changed[..<elements[2].range.upperBound]))
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        await #expect(throws: ShipmentError.signature(.wrong)) { try await consumer.receive(from: .file(forged)) }
        #expect(try consumer.inbox.storeNames() == [])
    }

    @Test func `is not passed on to a receiver that takes none`() async throws {
        let vector = try #require(try ProtocolVector.all(.dialogue).first { $0.name == "dialogue_installed" })
        let script = try VectorScript(vector, testing: "producer")
        let signed = try SignedManifest(decoding: Array(bytes[elements[1].range] + bytes[elements[2].range]))
        let version = StoreVersion(signed.manifest, at: [file], nil, signed: signed)
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let link = PeerLink(direction: .twoWay, reader: script, writer: script, peer: .at(.command("a vector")))
        let order = ProducerSession.Order { OutgoingShipment(version, Producer.Options()) }
        let results = await session.run(link, [order]).results
        #expect(throws: ShipmentError.takesNoRelay) { try results.first?.get() }
        #expect(await script.said == ["CANCEL feature-not-supported of the session"])
    }

    @Test func `is made by the device that the link comes from`() throws {
        let other = try DeviceIdentity()
        var parser = FrameParser()
        parser.append(bytes)
        var found: (signature: Signature, manifest: Manifest)?
        var signature: Signature?
        while let element = try parser.next() {
            if case .frame(.signature(let value)) = element { signature = value }
            if case .frame(.manifest(let manifest)) = element, let signature { found = (signature, manifest) }
        }
        let (proof, manifest) = (try #require(found), try #require(parser.signedPayload))
        let judgement = SenderAuthorization(trust: .trustedPeers(of: device), takesUnsigned: false)
        let signer = try proof.signature.signer(ofManifest: manifest, version: 1)
        func judge(_ id: DeviceIdentifier) throws -> Sender {
            let link = PeerLink(
                direction: .twoWay, reader: Nothing(), writer: Nothing(),
                peer: .at(.standardStreams), device: id)
            return try judgement.sender(of: proof.manifest, over: link, signedBy: signer)
        }
        let own = try device.identity().id
        #expect(signer == own)
        #expect(try judge(own).device?.bytes == own.bytes)
        // Another device passes it on, if it may.
        #expect(throws: ShipmentError.link(.notTrusted(other.id))) { try judge(other.id) }
        var changes = TrustList.PeerChanges()
        changes.roles = [.relay]
        _ = try device.trust(other.id, changes)
        let passedOn = try judge(other.id)
        #expect(passedOn.device?.bytes == own.bytes)
        #expect(passedOn.relay?.bytes == other.id.bytes)
        changes.roles = [.receiver]
        _ = try device.trust(other.id, changes)
        #expect(throws: ShipmentError.link(.notTrusted(other.id))) { try judge(other.id) }
    }
}

/// The end of a link that nobody uses.
private struct Nothing: LinkReader, LinkWriter {
    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? { nil }
    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {}
    func finish() async throws(LinkError) {}
}
