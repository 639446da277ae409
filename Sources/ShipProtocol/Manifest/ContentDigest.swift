/// A SHA-256: 32 bytes, written as 64 lower-case hexadecimal digits.
///
/// Source: `Protocol/README.md` section 4.1.
public struct ContentDigest: Hashable, Sendable {
    /// Length of a SHA-256, in bytes.
    public static let size = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// - Returns: `nil` unless there are exactly 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes.prefix(Self.size + 1))
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// For a hash function's own output.
    ///
    /// - Precondition: 32 bytes.
    package init(sha256 bytes: [UInt8]) {
        precondition(bytes.count == Self.size)
        self.bytes = bytes
    }

    /// - Returns: `nil` unless the text is 64 digits of `0-9a-f`; upper case is refused, so that equal digests are equal
    ///   texts.
    public init?(hex: some StringProtocol) {
        guard let bytes = Self.bytes(Self.size, ofHex: hex) else { return nil }
        self.bytes = bytes
    }

    /// 64 lower-case hexadecimal digits.
    public var hex: String { Self.hex(of: bytes) }

    /// The first eight digits: enough for people, and for the name of a generation's folder.
    public var short: String { String(hex.prefix(8)) }
}

extension ContentDigest: CustomStringConvertible {
    public var description: String { hex }
}

extension ContentDigest: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orFlaw: "not a SHA-256 in lower-case hexadecimal") { ContentDigest(hex: $0) }
    }

    public func encode(to encoder: any Encoder) throws { try hex.encode(to: encoder) }
}

/// Hexadecimal digits, for parts of digests too.
extension ContentDigest {
    /// - Returns: `nil` unless the text is twice as many digits of `0-9a-f`.
    package static func bytes(_ count: Int, ofHex text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.prefix(2 * count + 1).map { value(ofDigit: $0) }
        guard digits.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    static func decodeHex(_ count: Int, from decoder: any Decoder) throws -> [UInt8] {
        try decoder.value(orFlaw: "not \(2 * count) digits of lower-case hexadecimal") { bytes(count, ofHex: $0) }
    }

    static func hex(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
