// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding StoreFiles DeviceTrust
// libraries: CryptoExtras SwiftASN1 X509 _CertificateInternals

import DeviceTrust
import ShipProtocol

/// The bytes are a one-way shipment, read up to its manifest, and its signature, if there is one, is verified.
///
/// An input that does not begin as a shipment is the payload of its SIGNATURE, or, after a first byte of 1, that of its MANIFEST
/// behind some signature: so a fuzzer need not make CRC-32s.
enum SignatureTarget {
    static func run(_ input: [UInt8]) {
        if Preamble.begins(Array(input.prefix(8))), input.count >= 8 { return read(input) }
        guard let first = input.first else { return }
        let rest = Array(input.dropFirst())
        let (signature, manifest) = first == 1 ? (knownSignature, rest) : (rest, [0] + Array("{}".utf8))
        read(
            Preamble(role: .producer, mode: .oneWay).encoded + frame(.signature, signature)
                + frame(.manifest, manifest))
    }

    private static func read(_ stream: [UInt8]) {
        var parser = FrameParser()
        var dialogue = ConsumerDialogue(taking: CommonEncodings([]))
        var told: Signature?
        parser.append(stream)
        do {
            while let element = try parser.next() {
                if case .frame(.signature(let signature)) = element { told = signature }
                guard case .consider(let shipment)? = try dialogue.receive(element) else { continue }
                dialogue.end(of: shipment)
                guard let signature = shipment.signature, let payload = parser.signedPayload,
                    let version = dialogue.version
                else { continue }
                _ = try signature.signer(ofManifest: payload, version: version)
            }
            try parser.finish()
        } catch is ProtocolError {
        } catch is SignatureError {
        } catch {
            fatalError("\(error)")
        }
        // Whatever the manifest is: certificates are read by somebody else's code.
        if let told { _ = try? told.signer(ofManifest: [], version: 1) }
    }

    private static let knownSignature = [UInt8](repeating: 1, count: Signature.size + 1)

    private static func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [type.rawValue]
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: payload.count))
        bytes += payload
        bytes.append(bigEndian: UInt32(crc32Of: bytes))
        return bytes
    }
}
