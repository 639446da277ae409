package import Crypto
import EssentialFoundation
import SwiftASN1
import X509

/// Who this device is to others: a P-256 key that never leaves it, and the certificate that it shows.
public struct DeviceIdentity: Sendable {
    public let id: DeviceIdentifier
    /// As DER.
    package let certificate: [UInt8]
    package let key: P256.Signing.PrivateKey

    /// A new device.
    package init() throws(IdentityError) {
        let key = P256.Signing.PrivateKey()
        self.init(certificate: try DeviceCertificate.selfSigned(with: key), key: key)
    }

    private init(certificate: [UInt8], key: P256.Signing.PrivateKey) {
        self.certificate = certificate
        self.key = key
        id = DeviceIdentifier(ofCertificate: certificate)
    }
}

extension DeviceIdentity {
    private static let keyLabel = "PRIVATE KEY"
    private static let certificateLabel = "CERTIFICATE"

    /// Key and certificate as one text: two PEM blocks, PKCS #8 and X.509 [RFC 7468]. As one file they are made, and
    /// replaced, in one step.
    package var pem: String {
        let certificate = PEMDocument(type: Self.certificateLabel, derBytes: certificate).pemString
        return key.pemRepresentation + "\n" + certificate + "\n"
    }

    /// - Throws: A text that says what is wrong, and holds nothing of what was read.
    package init(pem text: String) throws(PEMFlaw) {
        guard let documents = try? PEMDocument.parseMultiple(pemString: text) else { throw .notPEM }
        guard let certificate = documents.first(where: { $0.discriminator == Self.certificateLabel })?.derBytes else {
            throw .noCertificate
        }
        guard let der = documents.first(where: { $0.discriminator == Self.keyLabel })?.derBytes,
            let key = try? P256.Signing.PrivateKey(derRepresentation: der)
        else { throw .noKey }
        guard DeviceCertificate.isFor(key.publicKey, certificate) else { throw .doNotMatch }
        self.init(certificate: certificate, key: key)
    }

    /// What is wrong with the text of an identity.
    package enum PEMFlaw: Error, Hashable {
        case notPEM, noCertificate, noKey, doNotMatch

        var words: String {
            switch self {
            case .notPEM: "it is not in PEM"
            case .noCertificate: "it holds no certificate"
            case .noKey: "it holds no P-256 key"
            case .doNotMatch: "its key and its certificate do not belong together"
            }
        }
    }
}

/// No description, no debugger's dump and no log shows the key.
extension DeviceIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "device \(id)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

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
