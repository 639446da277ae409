/// Where a decimal number stands in a text.
struct Numeral {
    static let point = UInt8(ascii: ".")
    /// The first of the bytes that stand for numbers; a tabulator and the ends of lines are before it.
    private static let firstMark: UInt8 = 14

    /// Digits before the point.
    let whole: Range<Int>
    /// Digits behind it.
    let fraction: Int
    /// How many plain ones stand before it in its line.
    let place: Int
    let isFirstInLine: Bool
    let isNegative: Bool
    /// Whether there are zeros in front.
    let hasZero: Bool
    /// Whether it belongs to no name, version or address: these may have any number of digits.
    let isPlain: Bool

    var end: Int { whole.upperBound + (fraction > 0 ? 1 + fraction : 0) }

    /// Whether there are that many digits before the point, or more without zeros in front; of 0 any number without these.
    func hasWhole(of width: Int) -> Bool { hasZero ? whole.count == width : whole.count >= width }

    /// The byte that stands for the numbers of a field.
    static func mark(of field: Int) -> UInt8 { firstMark + UInt8(field) }

    /// - Returns: `nil` for a byte that stands for none of so many.
    static func field(ofMark byte: UInt8, of fields: Int) -> Int? {
        byte >= firstMark && byte < firstMark + UInt8(fields) ? Int(byte - firstMark) : nil
    }

    /// Finds all in a text, in order.
    ///
    /// - Returns: How many of the marks, from the first on, come before the first that the text has.
    static func scan(_ text: UnsafeBufferPointer<UInt8>, _ found: (Numeral) -> Void) -> Int {
        var (at, place, free, isFirst) = (0, 0, SegmentLimits.decimalFields, true)
        func byte(_ index: Int) -> UInt8 { text.indices.contains(index) ? text[index] : UInt8(ascii: " ") }
        func end(from start: Int) -> Int {
            var end = start
            while end < text.count, isDigit(text[end]) { end += 1 }
            return end
        }
        while at < text.count {
            guard isDigit(text[at]) else {
                if text[at] == UInt8(ascii: "\n") { (place, isFirst) = (0, true) }
                if let field = field(ofMark: text[at], of: free) { free = field }
                if free == 0 { return 0 }
                // JSON spells characters by their numbers: these are parts of words.
                at += text[at] == UInt8(ascii: "\\") && byte(at + 1) == UInt8(ascii: "u") ? 6 : 1
                continue
            }
            let (before, whole) = (byte(at - 1), at..<end(from: at))
            let last = byte(whole.upperBound) == point ? end(from: whole.upperBound + 1) : whole.upperBound
            // Of a version or an address each part is a number.
            let isPart = before == point || (byte(last) == point && isDigit(byte(last + 1)))
            let fraction = isPart ? 0 : max(0, last - whole.upperBound - 1)
            let numeral = Numeral(
                whole: whole, fraction: fraction, place: place, isFirstInLine: isFirst,
                isNegative: before == UInt8(ascii: "-") && !isWord(byte(at - 2)),
                hasZero: text[at] == UInt8(ascii: "0") && whole.count > 1, isPlain: !isPart && !isWord(before))
            found(numeral)
            (at, isFirst) = (numeral.end, false)
            if numeral.isPlain { place += 1 }
        }
        return free
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    private static func isWord(_ byte: UInt8) -> Bool { isDigit(byte) || isLetter(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }

    /// A number that tells the text around it from other text: up to `reach` bytes before it, none beyond a digit, and the byte behind it.
    ///
    /// - Returns: The number, and whether two letters or more are before it.
    func surroundings(in text: UnsafeBufferPointer<UInt8>, reach: Int) -> (hash: UInt32, hasWord: Bool) {
        func mixed(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 16_777_619 }
        var hash = mixed(2_166_136_261, end < text.count ? text[end] : UInt8(ascii: "\n"))
        var (at, letters) = (whole.lowerBound - (isNegative ? 1 : 0), 0)
        let first = max(0, at - reach)
        while at > first {
            at -= 1
            if Self.isDigit(text[at]) { return (mixed(hash, UInt8(ascii: "0")), letters > 1) }
            if text[at] == UInt8(ascii: "\n") { break }
            if Self.isLetter(text[at]) { letters += 1 }
            hash = mixed(hash, text[at])
        }
        return (hash, letters > 1)
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
