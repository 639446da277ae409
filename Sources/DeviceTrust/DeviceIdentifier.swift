import Crypto
import ShipProtocol

/// The id of a device: the SHA-256 of its certificate, as DER. Having the certificate's key makes a machine that device.
public struct DeviceIdentifier: Sendable {
    /// In bytes.
    package static let size = 32

    package let bytes: [UInt8]

    /// The device whose certificate this is.
    package init(ofCertificate der: [UInt8]) { bytes = Array(SHA256.hash(data: der)) }

    /// - Returns: `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

extension DeviceIdentifier: Hashable {
    /// Takes the same time wherever the two differ, so that the time of a refusal reveals no id of the list.
    public static func == (left: DeviceIdentifier, right: DeviceIdentifier) -> Bool {
        var difference: UInt8 = 0
        for (left, right) in zip(left.bytes, right.bytes) { difference |= left ^ right }
        return difference == 0
    }
}

/// An id as people copy it: 13 groups of five characters, each with its own check character, which shows the group that has a typing
/// error.
///
///     01234-56789-...        A group: four digits of the id, 5 bits each, and a check character.
///
/// The digits are Crockford's base 32 [crockford.com/base32.html], which has no I, L, O and U: 256 bits, then four zero
/// bits. The check character of group g (0 to 12) with the digits d1 d2 d3 d4 is g + a d1 + a^2 d2 + a^3 d3 + a^4 d4 in
/// GF(2^5) with a^5 = a^2 + 1, where + is XOR. It always finds one wrong character in a group, two swapped characters in a
/// group, and two swapped groups.
///
/// It is written by hand because Foundation has neither base 32 nor these check characters.
extension DeviceIdentifier {
    private static let groups = 13
    private static let digitsInGroup = 4
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    /// The prefix of the text in a QR code, which says what the text is.
    private static let scheme = "SHIP-STORE:"

    /// 13 groups, with dashes between them.
    public var text: String {
        let values = Self.fiveBitValues(of: bytes)
        return (0..<Self.groups).map { group in
            let digits = Array(values[group * Self.digitsInGroup..<(group + 1) * Self.digitsInGroup])
            let characters = (digits + [Self.check(digits, group)]).map { Self.digits[Int($0)] }
            return String(decoding: characters, as: UTF8.self)
        }.joined(separator: "-")
    }

    /// The text of a QR code of the id.
    public var pictureText: String { Self.scheme + text }

    /// Reads an id with or without dashes, spaces and `ship-store:`, in either case, with O for 0 and I or L for 1.
    ///
    /// - Throws: The place of the first error.
    public init(_ text: String) throws(DeviceIdentifierError) {
        var letters = text.uppercased()[...]
        if letters.hasPrefix(Self.scheme) { letters.removeFirst(Self.scheme.count) }
        let characters = letters.unicodeScalars.filter { !$0.properties.isWhitespace && $0 != "-" }
        var values: [UInt8] = []
        for character in characters {
            guard let value = Self.value(of: character) else { throw .badCharacter(String(character)) }
            values.append(value)
        }
        let groupLength = Self.digitsInGroup + 1
        guard values.count == Self.groups * groupLength else {
            throw .badLength(values.count, expected: Self.groups * groupLength)
        }
        var digits: [UInt8] = []
        for group in 0..<Self.groups {
            let characters = values[group * groupLength..<(group + 1) * groupLength]
            guard Self.check(characters.dropLast(), group) == characters.last else {
                throw .badGroup(group + 1, String(decoding: characters.map { Self.digits[Int($0)] }, as: UTF8.self))
            }
            digits += characters.dropLast()
        }
        guard let bytes = Self.bytes(of: digits), let id = DeviceIdentifier(bytes: bytes) else { throw .badEnd }
        self = id
    }

    private static func value(of character: Unicode.Scalar) -> UInt8? {
        switch character {
        case "O": 0
        case "I", "L": 1
        default:
            character.isASCII
                ? digits.firstIndex(of: UInt8(truncatingIfNeeded: character.value)).map(UInt8.init) : nil
        }
    }

    private static func check(_ digits: some Sequence<UInt8>, _ group: Int) -> UInt8 {
        // Horner's rule, from the last digit on: each step multiplies by a.
        let sum = digits.reversed().reduce(UInt8(0)) { timesA($0 ^ $1) }
        return sum ^ UInt8(truncatingIfNeeded: group)
    }

    private static func timesA(_ value: UInt8) -> UInt8 {
        let doubled = value << 1
        return doubled & 32 == 0 ? doubled : doubled ^ 0b100101
    }

    private static func fiveBitValues(of bytes: [UInt8]) -> [UInt8] {
        var (values, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                values.append(UInt8(bits >> UInt32(count) & 31))
            }
        }
        if count > 0 { values.append(UInt8(bits << UInt32(5 - count) & 31)) }
        return values
    }

    /// - Returns: `nil` if a bit after the last byte is set.
    private static func bytes(of values: [UInt8]) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for value in values {
            bits = (bits & 0xFFFF) << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
    }
}

extension DeviceIdentifier: CustomStringConvertible {
    public var description: String { text }
}

extension DeviceIdentifier: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(orFlaw: "not a device's id") { try? DeviceIdentifier($0) }
    }

    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}
