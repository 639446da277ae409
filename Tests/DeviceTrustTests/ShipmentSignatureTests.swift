import Crypto
import DeviceTrust
import Foundation
import ShipProtocol
import StoreFiles
import SwiftASN1
import SystemPackage
import TestSupport
import Testing
import X509

/// What a device signs is its own, and nothing else.
@Suite struct `A signature of a shipment` {
    private let device: DeviceIdentity
    private let payload = Array("a manifest".utf8)
    private let signature: Signature

    init() throws {
        device = try DeviceIdentity()
        signature = try device.signature(ofManifest: payload, version: 1)
    }

    private func flaw(_ signature: Signature, _ payload: [UInt8], version: UInt8 = 1) -> SignatureError? {
        do throws(SignatureError) {
            _ = try signature.signer(ofManifest: payload, version: version)
            return nil
        } catch {
            return error
        }
    }

    @Test func `tells which device it is`() throws {
        #expect(try signature.signer(ofManifest: payload, version: 1) == device.id)
        #expect(signature.value.count == Signature.size)
        #expect(signature.certificate.count <= 512)
    }

    @Test func `is of one manifest, one version and one device`() throws {
        #expect(flaw(signature, payload + [0]) == .wrong)
        #expect(flaw(signature, []) == .wrong)
        #expect(flaw(signature, payload, version: 2) == .wrong)
        let other = try DeviceIdentity()
        #expect(flaw(Signature(value: signature.value, certificate: other.certificate), payload) == .wrong)
        let others = try other.signature(ofManifest: payload, version: 1)
        #expect(flaw(Signature(value: others.value, certificate: device.certificate), payload) == .wrong)
        for index in payload.indices {
            var changed = payload
            changed[index] ^= 1
            #expect(flaw(signature, changed) == .wrong)
        }
    }

    @Test func `does not survive a change of any of its bits`() {
        for index in 0..<Signature.size {
            for bit in 0..<8 {
                var value = signature.value
                value[index] ^= 1 << bit
                #expect(flaw(Signature(value: value, certificate: device.certificate), payload) == .wrong)
            }
        }
        for index in device.certificate.indices {
            var certificate = device.certificate
            certificate[index] ^= UInt8(1 << (index % 8))
            #expect(flaw(Signature(value: signature.value, certificate: certificate), payload) != nil, "byte \(index)")
        }
    }

    @Test func `is none without a whole certificate of a P-256 key`() throws {
        for length in device.certificate.indices {
            let cut = Array(device.certificate[..<length])
            #expect(flaw(Signature(value: signature.value, certificate: cut), payload) == .badCertificate)
        }
        for bytes in [device.certificate + [0], [], Array("trust me".utf8), [UInt8](repeating: 0x30, count: 4097)] {
            #expect(flaw(Signature(value: signature.value, certificate: bytes), payload) == .badCertificate)
        }
        let key = P384.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("ship-store device") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: 0), notValidAfter: Date(timeIntervalSince1970: 2_000_000_000),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA384, extensions: Certificate.Extensions(),
            issuerPrivateKey: .init(key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        let foreign = Signature(value: signature.value, certificate: serializer.serializedBytes)
        #expect(flaw(foreign, payload) == .otherKey)
    }

    @Test func `is none of a wrong length`() {
        for value in [[], Array(signature.value.dropLast()), signature.value + [0]] {
            #expect(flaw(Signature(value: value, certificate: device.certificate), payload) == .wrong)
        }
        #expect(throws: ProtocolError.badSignatureFrame) { try Signature(decoding: signature.value[...]) }
    }
}

/// A device numbers its shipments.
@Suite struct `The counter of a device` {
    @Test func `rises with each shipment, from 1`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        for number in 1...3 { #expect(try folder.nextCounter() == UInt64(number)) }
        #expect(try DeviceFolder(at: folder.path).nextCounter() == 4)
        #expect(try Folder.names(in: folder.path) == ["counter"])
        let file = folder.path.appending("counter")
        #expect(try PlatformCalls.status(of: file).permissions == .ownerReadWrite)
        #expect(FileManager.default.contents(atPath: file.string) == Data("4\n".utf8))
    }

    @Test func `gives no number twice, however many ask at once`() async throws {
        let scratch = try ScratchFolder()
        let path = scratch.path.appending("d")
        let numbers = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask(executorPreference: TestThreads.shared) { () async throws -> [UInt64] in
                    try (0..<25).map { _ in try DeviceFolder(at: path).nextCounter() }
                }
            }
            var numbers: [UInt64] = []
            for try await some in group { numbers += some }
            return numbers
        }
        #expect(numbers.sorted() == Array(1...200))
    }

    @Test(.timeLimit(.minutes(1)))
    func `is waited for while others are slow to write theirs, and no longer than is wanted`() async throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.nextCounter()
        let (locked, lock) = AsyncStream<Void>.makeStream()
        let slow = Task(executorPreference: TestThreads.shared) {
            _ = try folder.changeTrustList { _ in
                lock.finish()
                PlatformCalls.pause(.seconds(6))
            }
        }
        for await _ in locked {}
        #expect(throws: IdentityError.stopped) { try folder.nextCounter { false } }
        let next = Task(executorPreference: TestThreads.shared) { try folder.nextCounter() }
        #expect(try await next.value == 2)
        try await slow.value
    }

    @Test(arguments: [
        "", "\n", "7", "-1\n", "+1\n", "1 \n", "1\n\n", "0x1\n", "18446744073709551616\n", "18446744073709551614\n",
    ])
    func `is refused where it makes no sense`(text: String) throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.nextCounter()
        let file = folder.path.appending("counter")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.string))
        #expect(throws: IdentityError.damaged(file, flaw: "it holds no number of a shipment")) {
            try folder.nextCounter()
        }
        #expect(FileManager.default.contents(atPath: file.string) == Data(text.utf8))
    }

    @Test func `is refused where others could have changed it`() throws {
        let scratch = try ScratchFolder()
        let folder = DeviceFolder(at: scratch.path.appending("d"))
        _ = try folder.nextCounter()
        try PlatformCalls.changeMode(of: folder.path.appending("counter"), to: [.ownerReadWrite, .groupWrite])
        #expect(throws: IdentityError.self) { try folder.nextCounter() }
    }
}
