package import Crypto

/// The key with which others encrypt for a device, and for it alone. It is no secret.
///
/// An X25519 public key [RFC 7748]. Source: `Protocol/PUBLISHED.md` section 9.
public struct EncryptionKey: Sendable {
    /// 32 of them.
    package let bytes: [UInt8]

    package init(_ key: Curve25519.KeyAgreement.PublicKey) { bytes = Array(key.rawRepresentation) }
}

/// The text has the form of a device's id, with other check characters.
extension EncryptionKey: CustomStringConvertible {
    /// Of the first group.
    private static let number: UInt8 = 16

    /// 13 groups, with dashes between them.
    public var text: String { KeyText.text(of: bytes, from: Self.number) }

    public var description: String { text }

    /// Reads a key with or without dashes and spaces, in either case, with O for 0 and I or L for 1.
    ///
    /// - Throws: The place of the first error.
    public init(_ text: String) throws(DeviceIdentifierError) {
        bytes = try KeyText.bytes(of: text[...], from: Self.number)
    }
}

extension EncryptionKey: Hashable, Comparable {
    public static func < (left: EncryptionKey, right: EncryptionKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
