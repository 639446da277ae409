/// Where a decimal number stands in a text.
struct Numeral {
    static let point = UInt8(ascii: ".")

    /// Digits before the point.
    let whole: Range<Int>
    /// Digits behind it.
    let fraction: Int
    /// How many stand before it in its line, but for those in names, which may have any number of digits.
    let place: Int
    let isNegative: Bool
    /// Whether it has no zeros in front, and belongs to no name, version or address.
    let isPlain: Bool

    var end: Int { whole.upperBound + (fraction > 0 ? 1 + fraction : 0) }

    /// Finds all in a text, in order.
    ///
    /// - Returns: How many of the bytes that may stand for numbers, from 1 on, come before the first that the text has.
    static func scan(_ text: UnsafeBufferPointer<UInt8>, _ found: (Numeral) -> Void) -> Int {
        var (at, place, free) = (0, 0, SegmentLimits.decimalFields)
        func byte(_ index: Int) -> UInt8 { text.indices.contains(index) ? text[index] : UInt8(ascii: " ") }
        func end(from start: Int) -> Int {
            var end = start
            while end < text.count, DigitPattern.isDigit(text[end]) { end += 1 }
            return end
        }
        while at < text.count {
            guard DigitPattern.isDigit(text[at]) else {
                if text[at] == UInt8(ascii: "\n") { place = 0 }
                if text[at] &- 1 < free { free = Int(text[at]) - 1 }
                if free == 0 { return 0 }
                at += 1
                continue
            }
            let whole = at..<end(from: at)
            let fraction = byte(whole.upperBound) == point ? end(from: whole.upperBound + 1) - whole.upperBound - 1 : 0
            let next = whole.upperBound + (fraction > 0 ? 1 + fraction : 0)
            let before = byte(at - 1)
            let hasZero = text[at] == UInt8(ascii: "0") && whole.count > 1
            found(
                Numeral(
                    whole: whole, fraction: fraction, place: place,
                    isNegative: before == UInt8(ascii: "-") && !isWord(byte(at - 2)),
                    isPlain: !hasZero && before != point && byte(next) != point && !isWord(before)))
            (at, place) = (next, isWord(before) ? place : place + 1)
        }
        return free
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        DigitPattern.isDigit(byte) || byte | 0x20 &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }

    /// Digits behind the point without the noise of a binary number that was written with all its digits, as `0.30000000000000004`.
    func cleanFraction(in text: UnsafeBufferPointer<UInt8>) -> Int {
        guard fraction >= 12 else { return fraction }
        for last in [end - 1, end - 2] where text[last - 1] == UInt8(ascii: "0") || text[last - 1] == UInt8(ascii: "9")
        {
            let run = text[(whole.upperBound + 1)..<last].reversed().prefix { $0 == text[last - 1] }.count
            if run >= 4 { return last - run - whole.upperBound - 1 }
        }
        return fraction
    }
}
