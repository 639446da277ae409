/// Text that somebody else wrote: the other side of a link, whoever made a store, SQLite when it quotes one.
///
/// It may hold what rewrites a terminal, forges a line or turns its reading direction around. So whatever prints it, string
/// interpolation and debuggers included, prints it escaped (`Escaping`), and at most `printedLength` characters of it.
public struct ForeignText: Hashable, Sendable {
    /// Most characters (Unicode scalars) that are printed; three dots stand for the rest.
    public static let printedLength = 1200

    /// As it was written: to be compared, kept and sent on, and not to be shown.
    public let unescaped: String

    public init(_ text: String) { unescaped = text }

    /// Escaped.
    public var text: String { Escaping.text(unescaped, atMost: Self.printedLength) }

    // Byte by byte: Swift takes texts for equal that others tell apart.
    public static func == (left: ForeignText, right: ForeignText) -> Bool {
        left.unescaped.utf8.elementsEqual(right.unescaped.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in unescaped.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
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

/// A string of JSON, and a member's name: as it was written, since JSON has escapes of its own.
extension ForeignText: Codable, CodingKeyRepresentable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(unescaped)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public var codingKey: any CodingKey { Key(stringValue: unescaped) }

    public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}

/// Words for people, fit for a terminal and for one line of a log: what stands in the program's own source is as it is
/// there, and whatever is put into it is escaped.
///
/// A `String` does not become one by itself, so that the compiler finds what would be printed as somebody else wrote it.
public struct PrintableText: Hashable, Sendable {
    public private(set) var text: String

    private init(checked text: String) { self.text = text }

    public static func + (left: PrintableText, right: PrintableText) -> PrintableText {
        PrintableText(checked: left.text + right.text)
    }

    public static func += (left: inout PrintableText, right: PrintableText) { left.text += right.text }
}

extension PrintableText: CustomStringConvertible {
    public var description: String { text }
}

extension PrintableText: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(checked: text) }

    public init(stringInterpolation: StringInterpolation) { self.init(checked: stringInterpolation.text) }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(2 * literalCapacity) }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ words: PrintableText) { text += words.text }

        /// Not for optionals: they have no words.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += Escaping.text(value.description)
        }
    }
}

extension Sequence<PrintableText> {
    public func joined(separator: PrintableText = "") -> PrintableText {
        var isFirst = true
        return reduce(into: PrintableText("")) { text, next in
            if !isFirst { text += separator }
            text += next
            isFirst = false
        }
    }
}

/// How characters that a terminal acts upon, or that nobody sees, are written instead.
///
/// Those are the controls of ASCII and of ISO 8859 (C0, DEL, C1), line and paragraph separators, the controls of reading
/// direction, whatever takes no room (zero-width characters, variation selectors, tags), private and unassigned ones. A
/// backslash stays as it is, so that what was escaped once does not change.
public enum Escaping {
    /// `\n`, `\t` or `\u{1B}` for each of them.
    ///
    /// - Parameters:
    ///   - text: Any.
    ///   - limit: Most characters of the text; three dots stand for the rest.
    public static func text(_ text: String, atMost limit: Int = .max) -> String {
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
            case _ where isUnsafe(scalar): escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// JSON as JSON writes such characters, `\u001b`: RFC 8259 section 7. Outside of strings it has none but white space.
    ///
    /// - Parameter json: A whole value without line feeds.
    public static func json(_ json: String) -> String {
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

    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        guard !(0x20...0x7E).contains(scalar.value) else { return false }
        let properties = scalar.properties
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
