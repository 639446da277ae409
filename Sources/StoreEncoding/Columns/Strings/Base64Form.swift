/// How bytes are written in base64.
///
/// Source: RFC 4648 sections 4 and 5, and `Protocol/COLUMNS.md` 2, "Digits".
struct Base64Form: Hashable, Sendable {
    /// Whether the last two digits are `-` and `_`, and not `+` and `/`.
    let isForURLs: Bool
    /// Whether `=` stands for what is missing from the last four digits.
    let isPadded: Bool
    /// `nil` for digits without breaks.
    var lines: Base64Lines?

    static let padding = UInt8(ascii: "=")
    /// The value of a byte that is no digit.
    static let none = UInt8.max
    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let forURLs = Alphabet(common + Array("-_".utf8))
    private static let standard = Alphabet(common + Array("+/".utf8))
    /// Those without breaks, in the order of their numbers.
    static let all = [(false, true), (true, true), (false, false), (true, false)].map {
        Base64Form(isForURLs: $0.0, isPadded: $0.1)
    }

    private struct Alphabet {
        let digits: [UInt8]
        private(set) var values = [UInt8](repeating: none, count: 256)

        init(_ digits: [UInt8]) {
            self.digits = digits
            for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        }
    }

    private var alphabet: Alphabet { isForURLs ? Self.forURLs : Self.standard }

    /// The number of the form without breaks.
    var number: UInt8 { (isForURLs ? 1 : 0) | (isPadded ? 0 : 2) }

    /// The value of each byte as a digit.
    var values: [UInt8] { alphabet.values }

    /// - Parameter text: Digits and padding, without breaks.
    /// - Returns: `nil` unless the text is what `text(of:)` makes of its bytes, but for breaks.
    func bytes(of text: some RandomAccessCollection<UInt8>) -> [UInt8]? {
        let ends = isPadded ? text.suffix(2).count { $0 == Self.padding } : 0
        guard !isPadded || text.count % 4 == 0, (text.count - ends) % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        let values = values
        var (rest, count) = (UInt32(0), UInt32(0))
        for digit in text.dropLast(ends) {
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

    /// Appends the digits of bytes, with their padding and breaks.
    func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        let digits = alphabet.digits
        var (rest, count, written) = (UInt32(0), UInt32(0), 0)
        func write(_ digit: UInt8) {
            if let lines, written > 0, written % lines.length == 0 { text += lines.ending }
            text.append(digit)
            written += 1
        }
        for byte in bytes {
            rest = rest << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                write(digits[Int(rest >> count & 63)])
            }
            rest &= 1 << count - 1
        }
        if count > 0 { write(digits[Int(rest << (6 - count) & 63)]) }
        while isPadded, written % 4 != 0 { write(Self.padding) }
    }

    /// Bytes of text that so many bytes take.
    func size(of count: Int) -> Int {
        let digits = isPadded ? (count + 2) / 3 * 4 : (count * 8 + 5) / 6
        guard let lines, digits > 0 else { return digits }
        return digits + (digits - 1) / lines.length * lines.ending.count
    }
}
