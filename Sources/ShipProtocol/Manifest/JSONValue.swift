import EssentialFoundation

/// A value of JSON, as messages have them: without fractions.
enum JSONValue: Hashable, Sendable {
    case string(ForeignText)
    /// Its digits.
    case number(String)
    case boolean(Bool)
    case array([JSONValue])
    case object([ForeignText: JSONValue])

    /// - Parameter bytes: JSON that has just been encoded: decoding it does not fail.
    init(decoding bytes: [UInt8]) {
        self = (try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))) ?? .object([:])
    }

    /// An object without some of its members.
    func without(_ names: Set<ForeignText>) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !names.contains($0.key) })
    }

    /// The members that make another object of this one, if that has all that this one has.
    func differences(to other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let others) = other else { return other }
        var differences: [ForeignText: JSONValue] = [:]
        for (name, value) in others where members[name] != value {
            differences[name] = members[name]?.differences(to: value) ?? value
        }
        return .object(differences)
    }

    func changed(by differences: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let others) = differences else { return differences }
        return .object(members.merging(others) { $0.changed(by: $1) })
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
