/// The name under which the program ships, installs and lists a store: never a path.
///
/// It has 1 to 128 bytes of `A-Z a-z 0-9 . _ -`, begins with a letter, a digit or `_`, and does not end as the names of SQLite's
/// sidecar files do. Source: `Protocol/README.md` section 4.2.
public struct StoreName: Hashable, Sendable, Comparable {
    public let text: String

    /// - Returns: `nil` for a text that breaks one of the rules above.
    public init?(_ text: String) {
        guard (1...Limits.nameLength).contains(text.utf8.count),
            text.utf8.allSatisfy(\.isOfName),
            text.utf8.first.map(Self.isAllowedFirst) == true,
            !Self.reservedEndings.contains(where: { text.lowercased().hasSuffix($0) })
        else { return nil }
        self.text = text
    }

    /// The name that a file's name suggests: without its last extension, and with `_` and two hexadecimal digits for each byte that a
    /// name cannot have there, as in `M_C3_BCller` for `Müller.db`. So what is distinct in files' names stays distinct; what is too
    /// long ends in the CRC-32 of the file's name instead.
    ///
    /// - Parameter fileName: As in `PathText`.
    public init(suggestedBy fileName: String) {
        let scalars = fileName.unicodeScalars
        let end = scalars.lastIndex(of: ".").flatMap { $0 > scalars.startIndex ? $0 : nil } ?? scalars.endIndex
        var name = ""
        for byte in PathText.bytes(of: String(fileName[..<end])) {
            let isPlain = name.isEmpty ? Self.isAllowedFirst(byte) : byte.isOfName
            name += isPlain ? String(UnicodeScalar(byte)) : Self.escaped(byte)
        }
        if let ending = Self.reservedEndings.first(where: { name.lowercased().hasSuffix($0) }) {
            name = name.dropLast(ending.count) + Self.escaped(UInt8(ascii: "-")) + name.suffix(ending.count - 1)
        }
        if name.utf8.count > Limits.nameLength {
            let digits = String(UInt32(crc32Of: Array(fileName.utf8)), radix: 16)
            name = name.prefix(Limits.nameLength - 9) + "_" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        text = name.isEmpty ? "store" : name
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "_0" + digits : "_" + digits
    }

    private static let reservedEndings = ["-wal", "-shm", "-journal"]

    private static func isAllowedFirst(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || byte == UInt8(ascii: "_") }

    public static func < (left: StoreName, right: StoreName) -> Bool { left.text < right.text }
}

extension StoreName: CustomStringConvertible {
    public var description: String { text }
}

extension StoreName: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orFlaw: "not a store name") { StoreName($0) }
    }

    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
