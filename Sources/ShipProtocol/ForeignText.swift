/// Text from outside this program: from the other side of a link, from the maker of a store, from SQLite when it quotes a store.
///
/// It may hold characters that rewrite a terminal, forge a line or turn its reading direction around. So string interpolation,
/// debuggers and all else that prints it print it escaped (`escaped(_:atMost:)`), and at most `printedLength` characters of it.
public struct ForeignText: Hashable, Sendable {
    /// Most characters (Unicode scalars) that it prints; three dots stand for the rest.
    public static let printedLength = 1200

    /// As its author wrote it: to compare, keep and send on, and not to show.
    public let unescaped: String

    public init(_ text: String) { unescaped = text }

    /// Escaped.
    public var text: String { Self.escaped(unescaped, atMost: Self.printedLength) }

    // Byte by byte: Swift takes some texts for equal that other programs tell apart.
    public static func == (left: ForeignText, right: ForeignText) -> Bool {
        left.unescaped.utf8.elementsEqual(right.unescaped.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in unescaped.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}

extension ForeignText {
    /// Whether it is a label: a short text that programs write for programs, and that ends up in logs and files. A label has 1 to
    /// 256 bytes, and no U+0000.
    ///
    /// Source: `Protocol/README.md` section 4.3.
    package var isLabel: Bool {
        (1...Limits.labelLength).contains(unescaped.utf8.count) && !unescaped.utf8.contains(0)
    }
}

extension ForeignText: Comparable {
    /// By their bytes in UTF-8.
    public static func < (left: ForeignText, right: ForeignText) -> Bool {
        left.unescaped.utf8.lexicographicallyPrecedes(right.unescaped.utf8)
    }
}

extension ForeignText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { text }
    public var debugDescription: String { "\"\(text)\"" }
    public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}

extension ForeignText: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(text) }
}

/// As a string of JSON, and as the name of a member, it is unescaped: JSON has escapes of its own.
extension ForeignText: Codable, CodingKeyRepresentable {
    public init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try unescaped.encode(to: encoder) }

    public var codingKey: any CodingKey { unescaped.codingKey }

    public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}

/// Escaping: how this program writes characters that a terminal acts upon, or that a reader cannot see.
///
/// They are the controls of ASCII and of ISO 8859 (C0, DEL, C1), line and paragraph separators, the controls of reading direction,
/// characters without a width (zero-width characters, variation selectors, tags) or ink, and private and unassigned ones. A backslash
/// stays as it is, so that escaping a text twice changes nothing.
extension ForeignText {
    /// `\n`, `\t` or `\u{1B}` for each of them, and `\xFC` for a byte of a path (`PathText`).
    ///
    /// - Parameters:
    ///   - text: Any.
    ///   - limit: Most characters of the text; three dots stand for the rest.
    public static func escaped(_ text: String, atMost limit: Int = .max) -> String {
        // Nearly all text is plain.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var escaped = ""
        var left = limit
        for scalar in text.unicodeScalars {
            guard left > 0 else { return escaped + "..." }
            left -= 1
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case _ where isUnsafe(scalar):
                if let byte = PathText.byte(of: scalar) {
                    escaped += "\\x" + String(byte, radix: 16, uppercase: true)
                    continue
                }
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Escapes them as JSON does, `\u001b`: RFC 8259 section 7. Outside of its strings JSON has none of them but white space.
    ///
    /// - Parameter json: One JSON value without line feeds.
    public static func escapedInJSON(_ json: String) -> String {
        if json.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return json }
        var escaped = ""
        for scalar in json.unicodeScalars {
            guard isUnsafe(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }

    /// The pattern of Braille without a dot: a symbol, and no space, to Unicode.
    private static let blank: Unicode.Scalar = "\u{2800}"

    /// Whether a character has no place in a name: nobody sees it, and no other one looks different for it.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        isUnsafe(scalar) && scalar.properties.generalCategory != .nonspacingMark
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard !(0x20...0x7E).contains(scalar.value) else { return false }
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint || scalar == ForeignText.blank
        }
    }
}
