package import Crypto
import EssentialFoundation
package import ShipProtocol
import SwiftASN1
package import SystemPackage
import X509

/// This device as others see it: a certificate, and a P-256 key that never leaves the device.
public struct DeviceIdentity: Sendable {
    public let id: DeviceIdentifier
    /// As DER.
    package let certificate: [UInt8]
    package let key: P256.Signing.PrivateKey

    /// A new device.
    package init() throws(IdentityError) {
        let key = P256.Signing.PrivateKey()
        self.init(certificate: try Self.selfSignedCertificate(with: key), key: key)
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

    /// Key and certificate as two PEM blocks, PKCS #8 and X.509 [RFC 7468], in one text, so that one rename replaces both.
    package var pem: String {
        let certificate = PEMDocument(type: Self.certificateLabel, derBytes: certificate).pemString
        return key.pemRepresentation + "\n" + certificate + "\n"
    }

    /// - Parameter file: The file that holds the text, for errors.
    /// - Throws: `.damaged`, with a flaw that repeats nothing of the text.
    package init(pem text: String, in file: FilePath) throws(IdentityError) {
        guard let documents = try? PEMDocument.parseMultiple(pemString: text) else {
            throw .damaged(file, flaw: "it is not in PEM")
        }
        guard let certificate = documents.first(where: { $0.discriminator == Self.certificateLabel })?.derBytes else {
            throw .damaged(file, flaw: "it holds no certificate")
        }
        guard let der = documents.first(where: { $0.discriminator == Self.keyLabel })?.derBytes,
            let key = try? P256.Signing.PrivateKey(derRepresentation: der)
        else { throw .damaged(file, flaw: "it holds no P-256 key") }
        guard Self.isCertificate(certificate, of: key.publicKey) else {
            throw .damaged(file, flaw: "its key and its certificate do not belong together")
        }
        self.init(certificate: certificate, key: key)
    }
}

/// Descriptions, the debugger's dumps and logs do not show the key.
extension DeviceIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "device \(id)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

// MARK: The certificate

/// Devices trust the SHA-256 of the certificate. So it needs no name that tells one device from another. No device checks its dates,
/// which are the widest that exist: a watch's clock may be wrong.
extension DeviceIdentity {
    private static let commonName = "ship-store device"
    /// 31 December 9999, 23:59:59: "no well-defined expiration date" [RFC 5280 section 4.1.2.5].
    private static let noExpiration = Date(timeIntervalSince1970: 253_402_300_799)

    /// - Returns: The certificate, as DER.
    private static func selfSignedCertificate(with key: P256.Signing.PrivateKey) throws(IdentityError) -> [UInt8] {
        do {
            let name = try DistinguishedName { CommonName(Self.commonName) }
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: 0), notValidAfter: noExpiration, issuer: name,
                subject: name,
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

    private static func isCertificate(_ der: [UInt8], of key: P256.Signing.PublicKey) -> Bool {
        guard let certificate = try? Certificate(derEncoded: der) else { return false }
        return P256.Signing.PublicKey(certificate.publicKey)?.rawRepresentation == key.rawRepresentation
    }
}

// MARK: Signatures of shipments

extension DeviceIdentity {
    /// Signs a one-way shipment.
    package func signature(ofManifest payload: [UInt8], version: UInt8) throws(IdentityError) -> Signature {
        let content = Signature.signedContent(version: version, producer: id.bytes, manifest: payload)
        return Signature(value: try signature(of: content), certificate: certificate)
    }

    package func sign(_ head: PublishedHead) throws(IdentityError) -> HeadFile {
        try HeadFile(head, by: ContentDigest(sha256: id.bytes)) { (content) throws(IdentityError) in
            try signature(of: Signature.signedContent(publisher: id.bytes, head: content))
        }
    }

    /// - Returns: r, then s.
    private func signature(of content: [UInt8]) throws(IdentityError) -> [UInt8] {
        guard let value = try? key.signature(for: content).rawRepresentation else { throw .notMade }
        return Array(value)
    }
}

extension HeadFile {
    /// Verifies the signature with the publisher's certificate, and returns the device that published the head.
    package func signer(by certificate: [UInt8]) throws(SignatureError) -> DeviceIdentifier {
        guard DeviceIdentifier(ofCertificate: certificate).bytes == publisher.bytes else { throw .badCertificate }
        return try Signature(value: signature, certificate: certificate).signer {
            Signature.signedContent(publisher: $0, head: content)
        }
    }
}

extension Signature {
    /// Verifies the signature of a one-way shipment, and returns the device that signed it.
    package func signer(ofManifest payload: [UInt8], version: UInt8) throws(SignatureError) -> DeviceIdentifier {
        try signer { Signature.signedContent(version: version, producer: $0, manifest: payload) }
    }

    /// - Parameter content: Returns what is signed, for the id of the device that is said to have signed it.
    fileprivate func signer(of content: ([UInt8]) -> [UInt8]) throws(SignatureError) -> DeviceIdentifier {
        guard certificate.count <= Limits.certificateSize else { throw .badCertificate }
        let key = try Self.key(of: certificate)
        let id = DeviceIdentifier(ofCertificate: certificate)
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: value),
            key.isValidSignature(signature, for: content(id.bytes))
        else { throw .wrong }
        return id
    }

    private static func key(of certificate: [UInt8]) throws(SignatureError) -> P256.Signing.PublicKey {
        // It rejects bytes after the certificate, which would give the same key another id.
        guard let parsed = try? Certificate(derEncoded: certificate) else { throw .badCertificate }
        guard let key = P256.Signing.PublicKey(parsed.publicKey) else { throw .otherKey }
        return key
    }
}
