import Crypto

/// The content of a shipment by its manifest, without when and by what it was made, its number and its base. Both sides write it in the
/// same bytes, so that one can name a content that the other holds, and need not send it again.
///
/// Source: `Protocol/README.md` section 4.11. Vectors: `content_*`.
package struct ManifestContent: Hashable, Sendable {
    /// The members that count, in canonical form.
    package let json: [UInt8]
    package let id: ID

    private static let circumstances: Set<ForeignText> = ["createdAt", "producer", "counter", "base"]

    package init(of manifest: Manifest) {
        self.init(json: JSONValue(decoding: manifest.jsonBytes).without(Self.circumstances).canonicalBytes)
    }

    /// - Parameter json: In canonical form.
    package init(json: [UInt8]) {
        self.json = json
        id = ID(bytes: Array(SHA256.hash(data: json).prefix(ID.size)))
    }

    /// The first 16 bytes of the SHA-256 of its JSON, written as 32 lower-case hexadecimal digits.
    package struct ID: Hashable, Sendable {
        static let size = 16
        /// `size` of them.
        let bytes: [UInt8]

        /// Enough of it to tell a few contents apart.
        package var start: Start { Start(bytes: Array(bytes.prefix(Start.size))) }

        /// The first 4 bytes, written as 8 lower-case hexadecimal digits.
        package struct Start: Hashable, Sendable {
            static let size = 4
            /// `size` of them.
            let bytes: [UInt8]
        }
    }
}

extension ManifestContent.ID: Codable {
    package init(from decoder: any Decoder) throws { bytes = try ContentDigest.decodeHex(Self.size, from: decoder) }

    package func encode(to encoder: any Encoder) throws { try hex.encode(to: encoder) }

    /// - Returns: `nil` unless the text is 32 lower-case hexadecimal digits.
    package init?(hex: String) {
        guard let bytes = ContentDigest.bytes(Self.size, ofHex: hex) else { return nil }
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    package var hex: String { ContentDigest.hex(of: bytes) }
}

extension ManifestContent.ID.Start: Codable {
    package init(from decoder: any Decoder) throws { bytes = try ContentDigest.decodeHex(Self.size, from: decoder) }

    package func encode(to encoder: any Encoder) throws { try hex.encode(to: encoder) }

    /// 8 lower-case hexadecimal digits.
    package var hex: String { ContentDigest.hex(of: bytes) }
}

extension ManifestContent {
    /// The contents that both sides have since one offered a manifest, so that answers to it may refer to them: the one that MANIFEST gave
    /// it as a difference from, and its own.
    package static func offer(of manifest: Manifest, over base: ManifestContent?) -> [ManifestContent] {
        [base, ManifestContent(of: manifest)].compactMap(\.self)
    }
}
