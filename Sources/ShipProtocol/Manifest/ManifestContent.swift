import Crypto

/// What a manifest says of a shipment, but for when it was made, by which program, and as which of its producer's shipments: each
/// side can write it in the same bytes, so that it can be named instead of being sent once more.
///
/// Source: `Protocol/README.md` section 4.11. Vectors: `content_*`.
package struct ManifestContent: Hashable, Sendable {
    /// The members that count, in the one form that there is of them.
    package let json: [UInt8]
    package let id: ID

    private static let circumstances: Set<ForeignText> = ["createdAt", "producer", "counter"]

    package init(of manifest: Manifest) {
        self.init(json: JSONValue(of: manifest).without(Self.circumstances).canonicalBytes)
    }

    /// - Parameter json: In that form.
    package init(json: [UInt8]) {
        self.json = json
        id = ID(bytes: Array(SHA256.hash(data: json).prefix(ID.size)))
    }

    /// The first 16 bytes of the SHA-256 of its JSON, written as 32 lower-case hexadecimal digits.
    package struct ID: Hashable, Sendable {
        static let size = 16
        /// `size` of them.
        let bytes: [UInt8]
    }
}

extension ManifestContent.ID: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        // As long as a whole SHA-256, and under the same rule.
        let rest = String(repeating: "0", count: 2 * (ContentDigest.size - Self.size))
        guard let digest = ContentDigest(hex: text + rest) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "not \(2 * Self.size) digits of lower-case hexadecimal"))
        }
        bytes = Array(digest.bytes.prefix(Self.size))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }

    /// 32 lower-case hexadecimal digits.
    package var hex: String { bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() }
}

/// The contents of manifests that a consumer has told a producer that it holds: what a manifest may refer to.
package struct HeldContents: Hashable, Sendable {
    private var contents: [ManifestContent.ID: ManifestContent] = [:]
    private var size = 0

    package init() {}

    /// - Returns: Whether it is held from here on: the room is limited (`Limits.heldContents`).
    package mutating func hold(_ content: ManifestContent) -> Bool {
        guard contents[content.id] == nil else { return true }
        guard size + content.json.count <= Limits.heldContents else { return false }
        size += content.json.count
        contents[content.id] = content
        return true
    }

    subscript(id: ManifestContent.ID) -> ManifestContent? { contents[id] }
}
