import Crypto
import ShipProtocol

/// The cipher of one object: pieces of 64 KiB, each encrypted for itself with ChaCha20-Poly1305 [RFC 8439], so that an object is read piece by
/// piece, and from any of them on. The nonce is the number of the piece, in 11 bytes, and one byte that says whether it is the last one: so
/// none can be left out, or come in another order. Nothing else is ever encrypted with the same key, as the object's name comes of its content.
///
/// Source: `Protocol/PUBLISHED.md` section 9. Vectors: `sealed_object_*`.
package struct ObjectCipher: Sendable {
    /// Of a piece, in bytes.
    package static let pieceSize = 64 * 1024
    /// Of an encrypted one.
    package static let sealedSize = pieceSize + 16

    private let key: SymmetricKey

    init(key: SymmetricKey) { self.key = key }

    package func seal(_ piece: [UInt8], number: Int64, isLast: Bool) throws -> [UInt8] {
        let box = try ChaChaPoly.seal(piece, using: key, nonce: Self.nonce(number, isLast))
        return Array(box.ciphertext + box.tag)
    }

    /// - Returns: `nil` if it is not what was encrypted.
    package func open(_ sealed: some Collection<UInt8>, number: Int64, isLast: Bool) -> [UInt8]? {
        guard let nonce = try? Self.nonce(number, isLast),
            let box = try? ChaChaPoly.SealedBox(combined: Array(nonce) + sealed),
            let piece = try? ChaChaPoly.open(box, using: key)
        else { return nil }
        return Array(piece)
    }

    private static func nonce(_ number: Int64, _ isLast: Bool) throws -> ChaChaPoly.Nonce {
        var bytes: [UInt8] = [0, 0, 0]
        bytes.append(bigEndian: UInt64(number))
        return try ChaChaPoly.Nonce(data: bytes + [isLast ? 1 : 0])
    }
}
