package import ShipProtocol

/// A head as it lies in a publication that is encrypted.
///
///     0   8 bytes   `SHIPSEAL`
///     8   1 byte    version: 1
///     9   32 bytes  the digest of the object that has the secret for each recipient
///     41  12 bytes  nonce
///     53  rest      the file of the head, encrypted with ChaCha20-Poly1305 [RFC 8439]; what is before it is authenticated too
///
/// Source: `Protocol/PUBLISHED.md` section 9. Vectors: `sealed_head_*`.
package struct SealedHead: Sendable {
    private static let magic = Array("SHIPSEAL".utf8)
    private static let version: UInt8 = 1
    private static let fieldsSize = magic.count + 1 + ContentDigest.size + nonceSize
    static let nonceSize = 12

    package let keys: ContentDigest
    let nonce: [UInt8]
    let box: [UInt8]

    init(_ keys: ContentDigest, nonce: [UInt8], box: [UInt8]) { (self.keys, self.nonce, self.box) = (keys, nonce, box) }

    static func fields(_ keys: ContentDigest, _ nonce: [UInt8]) -> [UInt8] { magic + [version] + keys.bytes + nonce }

    /// The whole file.
    var encoded: [UInt8] { Self.fields(keys, nonce) + box }

    /// Whether a file of a head is encrypted.
    package static func isOne(_ file: [UInt8]) -> Bool { file.starts(with: magic) }

    /// - Throws: `.versionNotSupported`, `.damaged`, `.badMessage`.
    package init(decoding file: [UInt8]) throws(ProtocolError) {
        guard file.count <= Limits.headSize, Self.isOne(file) else {
            throw FrameType.manifest.bad("it is no encrypted head")
        }
        let rest = file.dropFirst(Self.magic.count)
        if let version = rest.first, version != Self.version { throw .versionNotSupported(version...version) }
        guard file.count > Self.fieldsSize,
            let keys = ContentDigest(bytes: rest.dropFirst().prefix(ContentDigest.size))
        else { throw .damaged(.message(FrameType.manifest.rawValue)) }
        self.init(
            keys, nonce: Array(file[(Self.fieldsSize - Self.nonceSize)..<Self.fieldsSize]),
            box: Array(file.dropFirst(Self.fieldsSize)))
    }
}
