import DeviceTrust
import Foundation
import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// The examples of heads, of shipments in them and of catalogs, and of what is encrypted.
@Suite struct PublicationVectorTests {
    @Test(arguments: try ProtocolVector.all(.head))
    func `a head is read or refused as its vector says`(vector: ProtocolVector) {
        expect(vector) {
            let file = try HeadFile(decoding: vector.bytes)
            let certificate = vector.bytes(labelled: "certificate") ?? []
            guard certificate.count <= Limits.certificateSize, ContentDigest(hashing: certificate) == file.publisher
            else { throw ProtocolError.damaged(.message(FrameType.manifest.rawValue)) }
            let publisher = try file.signer(by: certificate)
            let head = try file.head()
            let shipments = head.stores.flatMap(\.steps).map {
                "shipment: \($0.shipment.count) \(ContentDigest(hashing: $0.shipment).hex)"
            }
            #expect(vector["publisher"] == ContentDigest(sha256: publisher.bytes).hex)
            #expect(vector.all("shipment").map { "shipment: \($0)" } == shipments)
            return try Self.lines(of: head.jsonBytes)
        }
    }

    @Test(arguments: try ProtocolVector.all(.short))
    func `a shipment in a head is made whole or refused as its vector says`(vector: ProtocolVector) throws {
        let certificate = try #require(vector.bytes(labelled: "certificate"))
        let step = PublishedStep(
            from: vector["from"].flatMap { ManifestContent.ID(hex: $0) }, to: ManifestContent(json: []).id, counter: 1,
            size: Int64(vector.bytes.count), sha256: nil
        ).signed(vector.bytes(labelled: "signature"))
        var (file, code) = (String?.none, String?.none)
        do throws(ProtocolError) {
            let bytes = try InlineStep(step, shipment: vector.bytes).file(
                by: certificate, over: vector.bytes(labelled: "base").map { ManifestContent(json: $0) })
            file = "\(bytes.count) \(ContentDigest(hashing: bytes).hex)"
        } catch {
            code = error.code.rawValue
        }
        #expect(code == vector.error)
        #expect(file == vector["file"])
    }

    @Test(arguments: try ProtocolVector.all(.catalog))
    func `a catalog is read or refused as its vector says`(vector: ProtocolVector) {
        expect(vector) { try Self.lines(of: try StoreCatalog(decoding: vector.bytes).jsonBytes) }
    }

    @Test(arguments: try ProtocolVector.all(.sealed))
    func `what is encrypted is decrypted or refused as its vector says`(vector: ProtocolVector) async throws {
        let own = try #require(vector.bytes(labelled: "key"))
        let key = try #require(DecryptionKey(privateKey: own))
        let keysFile = try #require(vector.bytes(labelled: "keys"))
        let (name, file) = try #require(vector.sections.last.map { ($0.label, $0.bytes) })
        var (decrypted, code) = ([UInt8]?.none, String?.none)
        do throws(ProtocolError) {
            let head = name == "head" ? try SealedHead(decoding: file) : nil
            guard let keys = try PublicationKeys(decoding: keysFile, with: key) else {
                #expect(vector["recipient"] == "no")
                return
            }
            if let head {
                #expect(head.keys == keys.digest)
                decrypted = keys.open(head)
            } else {
                decrypted = try? await Self.object(vector, file, keys)
            }
            code = decrypted == nil ? "damaged" : nil
        } catch {
            code = error.code.rawValue
        }
        #expect(code == vector.error)
        let stated = decrypted.map { "\($0.count) \(ContentDigest(hashing: $0).hex)" }
        #expect(stated == vector["decrypted"])
    }

    private static func object(_ vector: ProtocolVector, _ file: [UInt8], _ keys: PublicationKeys) async throws
        -> [UInt8]
    {
        let digest = try #require(vector["content"].flatMap { ContentDigest(hex: $0) })
        let name = keys.secret.name(of: digest)
        #expect(vector["object-name"] == name.hex)
        let storage = StorageInMemory(seed: 1)
        storage.change { $0[name] = file }
        let publication = SealedPublication(storage, at: .folder("somewhere"), as: nil)
        publication.keys = keys
        return try await publication.beginning(of: digest, upTo: 1 << 20)
    }

    private func expect(_ vector: ProtocolVector, _ read: () throws -> [String]) {
        var (values, code) = ([String](), String?.none)
        do {
            values = try read()
        } catch let error as ProtocolError {
            code = error.code.rawValue
        } catch is SignatureError {
            code = "bad-signature"
        } catch {
            Issue.record("\(error)")
        }
        #expect(code == vector.error)
        #expect(values == (vector.error == nil ? vector.statedValues.filter { $0.hasPrefix("value.") } : []))
    }

    /// What a JSON says, as vectors state it, sorted.
    private static func lines(of json: [UInt8]) throws -> [String] {
        var lines: [String] = []
        func add(_ value: Any, at path: String) {
            switch value {
            case let object as [String: Any]: for (name, member) in object { add(member, at: "\(path).\(name)") }
            case let array as [Any]:
                // An empty list is not stated.
                if !array.isEmpty { lines.append("\(path).count: \(array.count)") }
                for (index, element) in array.enumerated() { add(element, at: "\(path).\(index)") }
            default: lines.append("\(path): \(value)")
            }
        }
        add(try JSONSerialization.jsonObject(with: Data(json)), at: "value")
        return lines.sorted()
    }
}
