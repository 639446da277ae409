package import Crypto
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
