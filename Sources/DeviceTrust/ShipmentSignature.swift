import Crypto
package import ShipProtocol
import SwiftASN1
import X509

/// Why a signature is none of its shipment.
public enum SignatureError: Error, Hashable, Sendable {
    /// There is no certificate in the certificate's place.
    case badCertificate
    /// The certificate's key is of another kind than P-256.
    case otherKey
    /// It was made with another key, over something else, or has been changed.
    case wrong
    /// It is by another device than the one that the link comes from.
    case otherDevice
}

extension DeviceIdentity {
    /// Signs a one-way shipment.
    ///
    /// - Parameters:
    ///   - payload: The payload of its MANIFEST, as it is sent.
    ///   - version: Of the session.
    package func signature(ofManifest payload: [UInt8], version: UInt8) throws(IdentityError) -> Signature {
        let content = SignedContent.bytes(version: version, producer: id.bytes, manifest: payload)
        guard let value = try? key.signature(for: content).rawRepresentation else { throw .notMade }
        return Signature(value: Array(value), certificate: certificate)
    }
}

extension Signature {
    /// Who signed a one-way shipment, which is thereby proven to be that device's.
    ///
    /// - Parameters:
    ///   - payload: The payload of its MANIFEST, as it came.
    ///   - version: Of the session.
    package func signer(ofManifest payload: [UInt8], version: UInt8) throws(SignatureError) -> DeviceIdentifier {
        guard certificate.count <= Limits.certificateSize else { throw .badCertificate }
        let key = try Self.key(of: certificate)
        let id = DeviceIdentifier(ofCertificate: certificate)
        let content = SignedContent.bytes(version: version, producer: id.bytes, manifest: payload)
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: value),
            key.isValidSignature(signature, for: content)
        else { throw .wrong }
        return id
    }

    private static func key(of certificate: [UInt8]) throws(SignatureError) -> P256.Signing.PublicKey {
        // Bytes behind the certificate would make another id of the same key.
        guard let parsed = try? Certificate(derEncoded: certificate) else { throw .badCertificate }
        guard let key = P256.Signing.PublicKey(parsed.publicKey) else { throw .otherKey }
        return key
    }
}
