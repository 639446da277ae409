/// Bytes as hexadecimal digits of one case.
enum HexDigits {
    case upper
    case lower

    static func isDigit(_ byte: UInt8) -> Bool { upper.value(byte) != nil || lower.value(byte) != nil }

    private func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F") where self == .upper: byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f") where self == .lower: byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: self == .upper ? "A" : "a") + value - 10
    }

    /// - Returns: `nil` if there are other bytes, or an odd number of digits.
    func bytes(of digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        let isWhole = digits.withUnsafeBufferPointer { digits in
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return false }
                bytes.append(high << 4 | low)
            }
            return true
        }
        return isWhole ? bytes : nil
    }

    /// Adds the 16 bytes of `8-4-4-4-12` digits.
    ///
    /// - Returns: Whether they are that.
    func appendUUID(_ text: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count == 36 else { return false }
        return text.withUnsafeBufferPointer { text in
            var place = 0
            while place < 36 {
                if place == 8 || place == 13 || place == 18 || place == 23 {
                    guard text[place] == UInt8(ascii: "-") else { return false }
                    place += 1
                }
                guard let high = value(text[place]), let low = value(text[place + 1]) else { return false }
                bytes.append(high << 4 | low)
                place += 2
            }
            return true
        }
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
