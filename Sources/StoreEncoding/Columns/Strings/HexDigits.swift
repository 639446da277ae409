/// Hexadecimal digits of one case.
enum HexDigits {
    case upper
    case lower

    /// Bytes of a UUID in digits, with its hyphens.
    static let uuidLength = 36

    static func isDigit(_ byte: UInt8) -> Bool {
        upperValues[Int(byte)] != none || lowerValues[Int(byte)] != none
    }

    /// The value of a byte that is no digit.
    private static let none: UInt8 = 0xff
    private static let upperValues = values(of: .upper)
    private static let lowerValues = values(of: .lower)

    /// The value of each byte as a digit.
    private static func values(of digits: HexDigits) -> [UInt8] {
        var values = [UInt8](repeating: none, count: 256)
        for value in UInt8(0)..<16 { values[Int(digits.digit(value))] = value }
        return values
    }

    /// Whether a byte is a digit of this case.
    func isDigit(_ byte: UInt8) -> Bool { values[Int(byte)] != Self.none }

    /// Whether a UUID is at a place, and no digit after it.
    func isUUID(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        let end = start + Self.uuidLength
        guard end <= text.count, end == text.count || !isDigit(text[end]) else { return false }
        return (0..<Self.uuidLength).allSatisfy { place in
            [8, 13, 18, 23].contains(place) ? text[start + place] == UInt8(ascii: "-") : isDigit(text[start + place])
        }
    }

    /// Whether a string is a UUID.
    func isUUID(_ string: ArraySlice<UInt8>) -> Bool {
        string.count == Self.uuidLength && string.withUnsafeBufferPointer { isUUID($0, at: 0) }
    }

    /// The bytes that digits stand for, two for each, up to anything else; a hyphen between two is passed over.
    func bytes(of text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count / 2)
        values.withUnsafeBufferPointer { values in
            var place = range.lowerBound
            while place + 1 < range.upperBound {
                if text[place] == UInt8(ascii: "-") { place += 1 }
                guard place + 1 < range.upperBound else { return }
                let (high, low) = (values[Int(text[place])], values[Int(text[place + 1])])
                guard high != Self.none, low != Self.none else { return }
                bytes.append(high << 4 | low)
                place += 2
            }
        }
        return bytes
    }

    private var values: [UInt8] { self == .upper ? Self.upperValues : Self.lowerValues }

    func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: self == .upper ? "A" : "a") + value - 10
    }

    /// - Returns: `nil` if there are other bytes, or an odd number of digits.
    func bytes(of digits: ArraySlice<UInt8>) -> [UInt8]? {
        let bytes = digits.withUnsafeBufferPointer { self.bytes(of: $0, $0.indices) }
        return bytes.count * 2 == digits.count ? bytes : nil
    }

    /// Appends the 16 bytes of `8-4-4-4-12` digits.
    ///
    /// - Returns: Whether they are that.
    func appendUUID(_ text: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard isUUID(text) else { return false }
        bytes += text.withUnsafeBufferPointer { self.bytes(of: $0, $0.indices) }
        return true
    }

    func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0xf))
        }
    }

    /// - Parameter bytes: 16 of them.
    func appendUUID(of bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digit(byte >> 4))
            text.append(digit(byte & 0xf))
        }
    }
}
