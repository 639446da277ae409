import Crypto
import EssentialFoundation
import SwiftASN1
import X509

/// The certificate of a device. Only its bytes count: who trusts it trusts its SHA-256. So it says nothing that tells one
/// device from another, and its dates, which nobody looks at, are the widest there are: a watch's clock may be wrong.
enum DeviceCertificate {
    private static let name = "ship-store device"
    /// 31 December 9999, 23:59:59: "no well-defined expiration date" [RFC 5280 section 4.1.2.5].
    private static let end = Date(timeIntervalSince1970: 253_402_300_799)

    /// - Returns: The certificate, as DER.
    static func selfSigned(with key: P256.Signing.PrivateKey) throws(IdentityError) -> [UInt8] {
        do {
            let name = try DistinguishedName { CommonName(Self.name) }
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: 0), notValidAfter: end, issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth, .clientAuth])
                },
                issuerPrivateKey: .init(key))
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        } catch {
            throw .notMade
        }
    }

    /// Whether a certificate is one for this key.
    static func isFor(_ key: P256.Signing.PublicKey, _ der: [UInt8]) -> Bool {
        guard let certificate = try? Certificate(derEncoded: der) else { return false }
        return P256.Signing.PublicKey(certificate.publicKey)?.rawRepresentation == key.rawRepresentation
    }
}
