/// 32 bytes as people copy them: 13 groups of five characters, each with its own check character, which shows the group that has a typing
/// error.
///
///     01234-56789-...        A group: four digits, 5 bits each, and a check character.
///
/// The digits are Crockford's base 32 [crockford.com/base32.html], which has no I, L, O and U: 256 bits, then four zero
/// bits. The check character of a group with the digits d1 d2 d3 d4 is g + a d1 + a^2 d2 + a^3 d3 + a^4 d4 in GF(2^5) with
/// a^5 = a^2 + 1, where + is XOR. g is 0 to 12 for an id, and 16 to 28 for an encryption key, so that neither is taken for the other. It
/// always finds one wrong character in a group, two swapped characters in a group, and two swapped groups.
///
/// It is written by hand because Foundation has neither base 32 nor these check characters.
enum KeyText {
    private static let groups = 13
    private static let digitsInGroup = 4
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    /// In bytes.
    private static let size = 32

    /// - Parameter first: The number of the first group.
    static func text(of bytes: [UInt8], from first: UInt8) -> String {
        let values = fiveBitValues(of: bytes)
        return (0..<groups).map { group in
            let digits = Array(values[group * digitsInGroup..<(group + 1) * digitsInGroup])
            let characters = (digits + [check(digits, group, from: first)]).map { Self.digits[Int($0)] }
            return String(decoding: characters, as: UTF8.self)
        }.joined(separator: "-")
    }

    /// Reads 32 bytes with or without dashes and spaces, in either case, with O for 0 and I or L for 1.
    ///
    /// - Throws: The place of the first error.
    static func bytes(of text: Substring, from first: UInt8) throws(DeviceIdentifierError) -> [UInt8] {
        let characters = text.uppercased().unicodeScalars.filter { !$0.properties.isWhitespace && $0 != "-" }
        var values: [UInt8] = []
        for character in characters {
            guard let value = value(of: character) else { throw .badCharacter(String(character)) }
            values.append(value)
        }
        let groupLength = digitsInGroup + 1
        guard values.count == groups * groupLength else {
            throw .badLength(values.count, expected: groups * groupLength)
        }
        var digits: [UInt8] = []
        for group in 0..<groups {
            let characters = values[group * groupLength..<(group + 1) * groupLength]
            guard check(characters.dropLast(), group, from: first) == characters.last else {
                throw .badGroup(group + 1, String(decoding: characters.map { Self.digits[Int($0)] }, as: UTF8.self))
            }
            digits += characters.dropLast()
        }
        guard let bytes = bytes(of: digits), bytes.count == size else { throw .badEnd }
        return bytes
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

    private static func check(_ digits: some Sequence<UInt8>, _ group: Int, from first: UInt8) -> UInt8 {
        // Horner's rule, from the last digit on: each step multiplies by a.
        let sum = digits.reversed().reduce(UInt8(0)) { timesA($0 ^ $1) }
        return sum ^ (first + UInt8(truncatingIfNeeded: group))
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
