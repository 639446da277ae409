import Crypto
import EssentialFoundation

/// What a manifest says of a shipment, without when and by what it was made, its number and its base. Both sides write it in the same
/// bytes, so that one can name a content that the other holds, and need not send it again.
///
/// Source: `Protocol/README.md` section 4.11. Vectors: `content_*`.
package struct ManifestContent: Hashable, Sendable {
    /// The members that count, in canonical form.
    package let json: [UInt8]
    package let id: ID

    private static let circumstances: Set<ForeignText> = ["createdAt", "producer", "counter", "base"]

    package init(of manifest: Manifest) {
        self.init(json: JSONValue(of: manifest).without(Self.circumstances).canonicalBytes)
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
    /// What both sides have since one offered a manifest, so that answers to it may refer to it: what MANIFEST gave it as a
    /// difference from, and its own content.
    package static func offer(of manifest: Manifest, over base: ManifestContent?) -> [ManifestContent] {
        [base, ManifestContent(of: manifest)].compactMap(\.self)
    }
}

/// A value of JSON, as messages have them: without fractions.
enum JSONValue: Hashable, Sendable {
    case string(ForeignText)
    /// Its digits.
    case number(String)
    case boolean(Bool)
    case array([JSONValue])
    case object([ForeignText: JSONValue])

    init(of message: some Message) {
        let bytes = message.jsonBytes
        // Decoding what has just been encoded does not fail.
        self = (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) ?? .object([:])
    }

    /// An object without some of its members.
    func without(_ names: Set<ForeignText>) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !names.contains($0.key) })
    }

    /// Its canonical form: members sorted by their names' bytes, no white space, no needless escape.
    ///
    /// Source: `Protocol/README.md` section 4.11, which is RFC 8785 but for the order of names beyond U+FFFF.
    var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): Self.append(text, to: &bytes)
        case .number(let digits): bytes += digits.utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: ForeignText, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.unescaped.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(ForeignText.self) {
            self = .string(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .number("\(number)")
        } else if let number = try? container.decode(UInt64.self) {
            self = .number("\(number)")
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([ForeignText: JSONValue].self))
        }
    }
}
