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
