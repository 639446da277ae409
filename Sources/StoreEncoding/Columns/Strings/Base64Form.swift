import ShipCompression

/// How bytes are written in base64.
///
/// Source: RFC 4648 sections 4 and 5, and `Protocol/COLUMNS.md` 2, "Base64".
struct Base64Form: Hashable, Sendable {
    /// Whether the last two digits are `-` and `_`, and not `+` and `/`.
    let isForURLs: Bool
    /// Whether `=` stands for what is missing from the last four digits.
    let isPadded: Bool

    /// How many strings are looked at, at most.
    private static let looked = 16
    /// Shorter strings are words as likely.
    private static let shortest = 16
    private static let (padding, none) = (UInt8(ascii: "="), UInt8.max)
    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let forURLs = Alphabet(common + Array("-_".utf8))
    private static let standard = Alphabet(common + Array("+/".utf8))

    private struct Alphabet {
        let digits: [UInt8]
        private(set) var values = [UInt8](repeating: none, count: 256)

        init(_ digits: [UInt8]) {
            self.digits = digits
            for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        }

        func has(_ digit: UInt8) -> Bool { values[Int(digit)] != none }
    }

    private var alphabet: Alphabet { isForURLs ? Self.forURLs : Self.standard }

    /// - Parameter number: As the format has it.
    /// - Returns: `nil` for none of the four forms.
    init?(number: UInt8) {
        guard number < 4 else { return nil }
        (isForURLs, isPadded) = (number & 1 != 0, number & 2 == 0)
    }

    var number: UInt8 { (isForURLs ? 1 : 0) | (isPadded ? 0 : 2) }

    /// - Returns: The form that a few strings have; `nil` if they are something else.
    init?(_ strings: Strings) {
        let sample = stride(from: 0, to: strings.count, by: max(1, strings.count / Self.looked)).map { strings[$0] }
        guard sample.reduce(0, { $0 + $1.count }) >= Self.shortest * sample.count else { return nil }
        isForURLs = sample.contains { $0.contains(UInt8(ascii: "-")) || $0.contains(UInt8(ascii: "_")) }
        isPadded = sample.allSatisfy { $0.count % 4 == 0 }
        guard !sample.allSatisfy({ $0.allSatisfy(HexDigits.isDigit) }), sample.allSatisfy({ bytes(of: $0) != nil })
        else {
            return nil
        }
    }

    /// - Returns: `nil` unless the string is what `text` makes of its bytes.
    func bytes(of string: ArraySlice<UInt8>) -> [UInt8]? {
        let ends = isPadded ? string.suffix(2).count { $0 == Self.padding } : 0
        guard !isPadded || string.count % 4 == 0, (string.count - ends) % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(string.count / 4 * 3 + 2)
        let values = alphabet.values
        var (rest, count) = (UInt32(0), UInt32(0))
        for digit in string.dropLast(ends) {
            let value = values[Int(digit)]
            guard value != Self.none else { return nil }
            rest = rest << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: rest >> count))
            rest &= 1 << count - 1
        }
        return rest == 0 ? bytes : nil
    }

    /// The digits of bytes, with their padding.
    func text(of bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        let digits = alphabet.digits
        var (rest, count) = (UInt32(0), UInt32(0))
        for byte in bytes {
            rest = rest << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digits[Int(rest >> count & 63)])
            }
            rest &= 1 << count - 1
        }
        if count > 0 { text.append(digits[Int(rest << (6 - count) & 63)]) }
        while isPadded, text.count % 4 != 0 { text.append(Self.padding) }
        return text
    }
}

extension ColumnEncoder {
    /// - Returns: `false` if one of the strings is not of the form.
    func writeBase64(_ strings: Strings, _ form: Base64Form?, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let form else { return false }
        var whole = Strings()
        for index in 0..<strings.count {
            guard let bytes = form.bytes(of: strings[index]) else { return false }
            whole.append(bytes)
        }
        areas.tag(form.number)
        encode(whole, depth: depth + 1, areOfRows: false, into: &areas)
        return true
    }
}

extension ColumnDecoder {
    /// Base64, which is made of its bytes.
    func base64(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        guard let form = Base64Form(number: try source.control.byte()) else { throw .damaged(.segment) }
        let strings = try strings(count, depth: depth + 1, areOfRows: false, from: &source)
        var whole = Strings()
        for index in 0..<count {
            try source.spend(bytes: (strings[index].count + 2) / 3 * 4)
            whole.append(form.text(of: strings[index]))
        }
        return whole
    }
}
