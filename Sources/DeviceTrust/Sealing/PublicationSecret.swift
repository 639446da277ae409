import Crypto
import EssentialFoundation
package import ShipProtocol

/// The secret that all recipients of an encrypted publication know, and nobody else. Everything there is encrypted with keys that are
/// derived from it.
///
/// Source: `Protocol/PUBLISHED.md` section 9.
package struct PublicationSecret: Sendable {
    /// In bytes.
    static let size = 32

    let bytes: [UInt8]

    init() { bytes = SymmetricKey(size: .bits256).withUnsafeBytes(Array.init) }

    /// - Precondition: 32 bytes.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// HKDF with SHA-256 and no salt [RFC 5869].
    private func key(for purpose: String, _ name: [UInt8] = []) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes),
            info: Array("ship-store publication \(purpose) v1".utf8) + name,
            outputByteCount: Self.size)
    }

    /// The name of an object whose content has this digest.
    package func name(of digest: ContentDigest) -> ContentDigest {
        ContentDigest(sha256: Array(HMAC<SHA256>.authenticationCode(for: digest.bytes, using: key(for: "name"))))
    }

    package func cipher(for name: ContentDigest) -> ObjectCipher { ObjectCipher(key: key(for: "object", name.bytes)) }

    func seal(_ head: [UInt8], _ keys: ContentDigest) throws -> SealedHead {
        let nonce = ChaChaPoly.Nonce()
        let fields = SealedHead.fields(keys, Array(nonce))
        let box = try ChaChaPoly.seal(head, using: key(for: "head"), nonce: nonce, authenticating: fields)
        return SealedHead(keys, nonce: Array(nonce), box: Array(box.ciphertext + box.tag))
    }

    /// - Returns: `nil` if it is not what was encrypted.
    func open(_ head: SealedHead) -> [UInt8]? {
        guard let box = try? ChaChaPoly.SealedBox(combined: head.nonce + head.box),
            let file = try? ChaChaPoly.open(
                box, using: key(for: "head"), authenticating: SealedHead.fields(head.keys, head.nonce))
        else { return nil }
        return Array(file)
    }
}

/// Dumps and logs do not show it.
extension PublicationSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "a publication's secret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
