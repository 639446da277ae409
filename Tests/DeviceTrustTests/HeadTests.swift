import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Heads of publications, as a device signs them.
@Suite struct HeadTests {
    private let scratch: ScratchFolder
    private let identity: DeviceIdentity

    init() throws {
        scratch = try ScratchFolder()
        identity = try DeviceFolder(at: scratch.path.appending("device")).identity()
    }

    private static func head(_ random: inout RepeatableRandom) -> PublishedHead {
        func id() -> ManifestContent.ID { ManifestContent(json: random.bytes(8)).id }
        let stores = (0..<Int.random(in: 0...4, using: &random)).compactMap { number -> PublishedHead.Store? in
            guard let name = StoreName("store\(number)") else { return nil }
            let steps = (1...Int.random(in: 1...4, using: &random)).dropFirst().map { number in
                let bytes = random.bytes(Int.random(in: 1...900, using: &random))
                let step = PublishedStep(
                    from: id(), to: id(), counter: UInt64(number), size: Int64(bytes.count), sha256: nil)
                return InlineStep(step.signed(random.bytes(Signature.size)), shipment: bytes)
            }
            return PublishedHead.Store(
                name: name, newest: id(), counter: random.next() | 1, asOf: Timestamp(Date(timeIntervalSince1970: 7)),
                size: Int64.random(in: 0...1 << 40, using: &random),
                catalog: Bool.random(using: &random)
                    ? PublishedObject(sha256: ContentDigest(sha256: random.bytes(32)), size: 7) : nil, steps: steps)
        }
        let now = Timestamp(Date(timeIntervalSince1970: 1_764_000_000))
        return PublishedHead(
            publication: ContentDigest(sha256: random.bytes(32)), number: random.next() | 1, software: "test 1",
            issued: now, expires: now,
            next: Bool.random(using: &random) ? ContentDigest(sha256: random.bytes(32)) : nil,
            before: Bool.random(using: &random)
                ? PublishedObject(sha256: ContentDigest(sha256: random.bytes(32)), size: 7) : nil,
            sealing: Bool.random(using: &random)
                ? PublishedHead.Sealing(
                    keys: ContentDigest(sha256: random.bytes(32)), recipients: ContentDigest(sha256: random.bytes(32)))
                : nil,
            halted: stores.map(\.name).filter { _ in Bool.random(using: &random) }.map {
                PublishedHead.HaltedStore(name: $0, since: now)
            }, stores: stores)
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 2000 : 100))
    func `a head is read as it was signed, and not with a byte changed`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let head = Self.head(&random)
        let bytes = try identity.sign(head).encoded
        let read = try HeadFile(decoding: bytes)
        #expect(try read.head() == head)
        #expect(try read.signer(by: identity.certificate) == identity.id)
        #expect(head.stores.allSatisfy { $0.steps.dropLast().allSatisfy { $0.step.signature == nil } })
        for _ in 0..<20 {
            var changed = bytes
            switch Int.random(in: 0...2, using: &random) {
            case 0:
                changed[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: changed.removeLast(Int.random(in: 1...bytes.count, using: &random))
            default: changed += random.bytes(Int.random(in: 1...9, using: &random))
            }
            guard let other = try? HeadFile(decoding: changed),
                (try? other.signer(by: identity.certificate)) == identity.id
            else {
                continue
            }
            // Unused bits at the end of a deflate stream say nothing.
            #expect(try other.head() == head, "seed \(seed)")
        }
    }

    @Test func `the signature of a shipment is none of a head`() throws {
        var random = RepeatableRandom(seed: 1)
        let head = Self.head(&random)
        let file = try identity.sign(head)
        let signature = try identity.signature(ofManifest: file.content, version: 1)
        let forged = HeadFile(head, by: file.publisher) { _ in signature.value }
        #expect(throws: SignatureError.wrong) { try forged.signer(by: identity.certificate) }
    }

    @Test func `a head is verified with the certificate of its publisher alone`() throws {
        var random = RepeatableRandom(seed: 2)
        let file = try identity.sign(Self.head(&random))
        let other = try DeviceFolder(at: scratch.path.appending("other")).identity()
        #expect(file.publisher.bytes == identity.id.bytes)
        #expect(throws: SignatureError.badCertificate) { try file.signer(by: other.certificate) }
    }
}
