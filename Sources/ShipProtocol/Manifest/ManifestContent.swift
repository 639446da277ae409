import Crypto

/// What a manifest says of a shipment, but for when it was made, by which program, as which of its producer's shipments and over which
/// base: each side can write it in the same bytes, so that it can be named instead of being sent once more.
///
/// Source: `Protocol/README.md` section 4.11. Vectors: `content_*`.
package struct ManifestContent: Hashable, Sendable {
    /// The members that count, in the one form that there is of them.
    package let json: [UInt8]
    package let id: ID

    private static let circumstances: Set<ForeignText> = ["createdAt", "producer", "counter", "base"]

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

        /// As much of it as tells a few contents apart.
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
    package init(from decoder: any Decoder) throws { bytes = try Hexadecimal.decode(Self.size, from: decoder) }

    package func encode(to encoder: any Encoder) throws { try Hexadecimal.encode(bytes, to: encoder) }

    /// - Returns: `nil` unless the text is 32 lower-case hexadecimal digits.
    package init?(hex: String) {
        guard let bytes = Hexadecimal.bytes(Self.size, of: hex) else { return nil }
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    package var hex: String { Hexadecimal.text(bytes) }
}

extension ManifestContent.ID.Start: Codable {
    package init(from decoder: any Decoder) throws { bytes = try Hexadecimal.decode(Self.size, from: decoder) }

    package func encode(to encoder: any Encoder) throws { try Hexadecimal.encode(bytes, to: encoder) }

    /// 8 lower-case hexadecimal digits.
    package var hex: String { Hexadecimal.text(bytes) }
}

/// Digests that are shorter than a whole SHA-256, and under the same rule.
private enum Hexadecimal {
    static func decode(_ size: Int, from decoder: any Decoder) throws -> [UInt8] {
        guard let bytes = bytes(size, of: try decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "not \(2 * size) digits of lower-case hexadecimal"))
        }
        return bytes
    }

    static func bytes(_ size: Int, of text: String) -> [UInt8]? {
        let rest = String(repeating: "0", count: 2 * (ContentDigest.size - size))
        return ContentDigest(hex: text + rest).map { Array($0.bytes.prefix(size)) }
    }

    static func encode(_ bytes: [UInt8], to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text(bytes))
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// A manifest as both sides have it once it has been offered: what the answers to it may refer to.
package struct OfferedManifest: Hashable, Sendable {
    let content: ManifestContent
    /// What it was offered as a difference from.
    let base: ManifestContent?

    package init(_ manifest: Manifest, over base: ManifestContent?) {
        self.init(ManifestContent(of: manifest), over: base)
    }

    package init(_ content: ManifestContent, over base: ManifestContent?) {
        self.content = content
        self.base = base
    }

    /// What stands before the first byte of an answer, after the dictionary.
    var bytes: [UInt8] { (base?.json ?? []) + content.json }
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
