import Crypto
import EssentialFoundation
import ShipProtocol
import SystemPackage

/// The key with which a device reads what others have encrypted for it. It never leaves the device.
package struct DecryptionKey: Sendable {
    private let key: Curve25519.KeyAgreement.PrivateKey

    package init() { key = Curve25519.KeyAgreement.PrivateKey() }

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(privateKey bytes: [UInt8]) {
        guard let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes) else { return nil }
        self.key = key
    }

    /// The key that others encrypt with.
    package var encryptionKey: EncryptionKey { EncryptionKey(key.publicKey) }

    /// As HPKE has it in base mode [RFC 9180 section 5.1.1]: X25519, HKDF-SHA256 and ChaCha20-Poly1305.
    ///
    /// - Parameters:
    ///   - sealed: The encapsulated key, and what was encrypted.
    ///   - purpose: The `info` of both sides.
    /// - Returns: `nil` if it was encrypted for another one, or is damaged.
    func open(_ sealed: ArraySlice<UInt8>, for purpose: String) -> [UInt8]? {
        let key = Data(sealed.prefix(EncryptionKey.encapsulatedSize))
        guard
            var recipient = try? HPKE.Recipient(
                privateKey: self.key, ciphersuite: EncryptionKey.suite, info: Data(purpose.utf8), encapsulatedKey: key),
            let bytes = try? recipient.open(Array(sealed.dropFirst(key.count)))
        else { return nil }
        return Array(bytes)
    }
}

extension EncryptionKey {
    fileprivate static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    /// Length of the encapsulated key, in bytes.
    static let encapsulatedSize = 32

    /// - Returns: The encapsulated key, and the bytes encrypted.
    /// - Throws: `.badKey` if it is no key to which one can encrypt.
    func seal(_ bytes: [UInt8], for purpose: String) throws(IdentityError) -> [UInt8] {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: self.bytes),
            var sender = try? HPKE.Sender(recipientKey: key, ciphersuite: Self.suite, info: Data(purpose.utf8)),
            let sealed = try? sender.seal(bytes)
        else { throw .badKey(self) }
        return Array(sender.encapsulatedKey + sealed)
    }
}

/// `DIR/decryption.key`: the key's 32 bytes in hexadecimal digits, and a line feed.
extension DecryptionKey {
    var line: [UInt8] { Array((ContentDigest(sha256: Array(key.rawRepresentation)).hex + "\n").utf8) }

    /// - Returns: `nil` if it is no such line.
    init?(line: [UInt8]) {
        guard line.last == UInt8(ascii: "\n"),
            let digits = ContentDigest(hex: String(decoding: line.dropLast(), as: UTF8.self))
        else { return nil }
        self.init(privateKey: digits.bytes)
    }
}

/// Descriptions, the debugger's dumps and logs do not show the key.
extension DecryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "the key that decrypts for \(encryptionKey)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
