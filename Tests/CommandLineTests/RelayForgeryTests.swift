import DeviceTrust
import Foundation
import ShipProtocol
import ShipTransport
import SystemPackage
import TestSupport
import Testing

/// A relay that lies: it is let in, has all that its key and old shipments give it, and keeps to no rule.
@Suite(.serialized) struct RelayForgeryTests {
    private let desk: Desk
    private let phone: String
    private let watch: Receiver

    init() async throws {
        desk = try Desk()
        try desk.makeStore(rows: 20)
        phone = try await desk.id(of: "phone")
        _ = try await desk.id(of: "watch")
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "--store", "Recipes", "-q")
            .expectSuccess()
        for relay in ["tablet", "kiosk"] {
            let id = try await desk.id(of: relay)
            try await desk.run("trust", id, "--identity", "watch", "--role", "relay", "--name", relay, "-q")
                .expectSuccess()
        }
        watch = try await desk.listen(into: "watch-inbox", "--identity", "watch")
    }

    /// What a file has: the frames that a signature covers, and what follows them.
    private struct Signed {
        let signature: [UInt8]
        let manifest: [UInt8]
        let rest: [UInt8]
        let payload: [UInt8]

        init(_ file: [UInt8]) throws {
            var frames: [ArraySlice<UInt8>] = []
            var left = file.dropFirst(Preamble.size)
            while frames.count < 2 {
                let length = Int(UInt32(bigEndianBytes: left.dropFirst().prefix(4)))
                frames.append(left.prefix(length + 9))
                left = left.dropFirst(length + 9)
            }
            try #require(frames.map(\.first) == [FrameType.signature.rawValue, FrameType.manifest.rawValue])
            (signature, manifest, rest) = (Array(frames[0]), Array(frames[1]), Array(left))
            payload = Array(frames[1].dropFirst(5).dropLast(4))
        }
    }

    private func shipment(
        _ store: String = "Recipes.sqlite", by device: String = "phone"
    ) async throws -> Signed {
        let file = desk.scratchFile("shipment")
        try await desk.run("send", store, "--to", file.string, "--identity", device, "--sign", "-q").expectSuccess()
        return try Signed(Array(try Data(contentsOf: URL(fileURLWithPath: file.string))))
    }

    private func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [type.rawValue]
        bytes.append(bigEndian: UInt32(payload.count))
        bytes += payload
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
        return bytes
    }

    /// Says all of it, and hears why the watch refuses.
    private func offer(_ frames: [UInt8], as relay: String = "tablet") async throws -> String? {
        try await desk.withLink(as: relay, to: watch) { link in
            let preamble = Preamble(role: .producer, mode: .twoWay).encoded
            try await link.writer.write(preamble + frames, within: .seconds(10))
            return try await link.refusal()?.code.unescaped
        }
    }

    /// Passes a shipment on as it should be, and hears what becomes of it.
    @discardableResult
    private func passOn(_ shipment: Signed, as relay: String = "tablet") async throws -> Receipt.Outcome? {
        try await desk.withLink(as: relay, to: watch) { link in
            let preamble = Preamble(role: .producer, mode: .twoWay).encoded
            let frames = preamble + shipment.signature + shipment.manifest
            try await link.writer.write(frames, within: .seconds(10))
            var (parser, reader) = (FrameParser(), link.reader)
            let signed = try SignedManifest(decoding: shipment.signature + shipment.manifest)
            parser.offer = ManifestContent.offer(of: signed.manifest, over: nil)
            while let bytes = try await reader.next(within: .seconds(10)) {
                parser.append(bytes)
                while let element = try parser.next() {
                    switch element {
                    case .frame(.answer): try await link.writer.write(shipment.rest, within: .seconds(10))
                    case .frame(.receipt(let receipt)): return receipt.outcome
                    default: break
                    }
                }
            }
            return nil
        }
    }

    /// What the watch says first.
    private func hello(to relay: String) async throws -> Hello? {
        try await desk.withLink(as: relay, to: watch) { link in
            var (parser, reader) = (FrameParser(), link.reader)
            while let bytes = try await reader.next(within: .seconds(10)) {
                parser.append(bytes)
                while let element = try parser.next() { if case .frame(.hello(let hello)) = element { return hello } }
            }
            return nil
        }
    }

    private var hasNothing: Bool {
        !FileManager.default.fileExists(atPath: desk["watch-inbox/Recipes.sqlite"].string)
            && !FileManager.default.fileExists(atPath: desk["watch-inbox/Tea.sqlite"].string)
    }

    @Test func `changes nothing of what was signed`() async throws {
        let good = try await shipment()
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        let next = try await shipment()
        // Another number, in the very manifest.
        let manifest = try SignedManifest(decoding: good.signature + good.manifest).manifest
        let forged = manifest.counted(99)
        let changed = frame(.manifest, [0] + forged.jsonBytes)
        #expect(try await offer(good.signature + changed) == "bad-signature")
        // The same words in another form are not what was signed.
        #expect(try await offer(good.signature + frame(.manifest, [0] + manifest.jsonBytes)) == "bad-signature")
        // The signature of another shipment of the same device.
        #expect(try await offer(next.signature + good.manifest) == "bad-signature")
        // Signed by the relay itself, with the phone's certificate.
        let own = try DeviceFolder(at: desk["tablet"]).identity().signature(ofManifest: good.payload, version: 1)
        let certificate = try Signature(decoding: good.signature.dropFirst(5).dropLast(4)).certificate
        let mixed = try Frame.signature(Signature(value: own.value, certificate: certificate)).serialized()
        #expect(try await offer(mixed + good.manifest) == "bad-signature")
        // Without a signature it would be the relay's own.
        #expect(try await offer(good.manifest) == "not-trusted")
        // Two signatures, and none that belongs to anything.
        #expect(try await offer(good.signature + good.signature + good.manifest) == "protocol-violation")
        #expect(hasNothing)
        try await passOn(good)
        #expect(!hasNothing)
        _ = try await watch.stop()
    }

    @Test func `brings nothing of a device that may not send it`() async throws {
        _ = try await desk.id(of: "stranger")
        let strangers = try await shipment(by: "stranger")
        #expect(try await offer(strangers.signature + strangers.manifest) == "not-trusted")
        // The relay is a device like any other.
        let own = try await shipment(by: "tablet")
        #expect(try await offer(own.signature + own.manifest) == "not-trusted")
        // The phone is trusted for one store, whatever else it has signed.
        try desk.makeStore("Tea.sqlite")
        let tea = try await shipment("Tea.sqlite")
        #expect(try await offer(tea.signature + tea.manifest) == "not-trusted")
        #expect(hasNothing)
        _ = try await watch.stop()
    }

    @Test func `sends no other bytes than those that were signed`() async throws {
        let good = try await shipment()
        try desk.execute("UPDATE recipe SET title = 'poison'", in: "Recipes.sqlite")
        let other = try await shipment()
        let refused = try await offer(good.signature + good.manifest + other.rest)
        #expect(refused != nil)
        #expect(hasNothing)
        _ = try await watch.stop()
    }

    @Test func `goes back nowhere, whichever way the newer one came`() async throws {
        let old = try await shipment()
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        let new = try await shipment()
        try await passOn(new, as: "kiosk")
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        #expect(try await offer(old.signature + old.manifest) == "replayed")
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // A relay hears of what it has brought itself, and of nothing else.
        #expect(try await hello(to: "kiosk")?.holds?.map(\.name.text) == ["Recipes"])
        #expect(try await hello(to: "tablet")?.holds == nil)
        #expect(try await hello(to: "tablet")?.knownSignatures == .taken)
        // The very shipment that came last is known, whoever brings it.
        #expect(try await passOn(new) == .unchanged)
        _ = try await watch.stop()
    }
}
