import ShipCompression

/// The common pattern of strings that differ only in decimal numbers: dates, versions, numbered names.
///
/// Source: `Protocol/COLUMNS.md` 2, "Pattern".
struct DigitPattern {
    private static let mostFields = 16
    private static let longestLiteral = 255
    /// 10^19 still fits 64 bits, though not each with a sign.
    private static let mostDigits = 19
    /// 10^18 does in any case.
    private static let widest = 18

    /// By field: what stands before it.
    private var literals: [[UInt8]] = []
    /// By field, in digits, with zeros in front; 0 for as few digits as the number takes.
    private var widths: [Int] = []
    /// By field: the number of each string.
    private(set) var numbers: [[Int64]] = []
    private var tail: [UInt8] = []

    /// - Returns: `nil` if the strings have no pattern in common.
    init?(_ strings: Strings) {
        guard strings.count > 0, var hasLeadingZero = split(strings[0]) else { return nil }
        var (widths, numbers) = (widths, [[Int64]](repeating: [], count: literals.count))
        for index in 0..<strings.count {
            guard
                read(
                    strings[index],
                    { field, number, width, zero in
                        numbers[field].append(number)
                        if widths[field] != width { widths[field] = 0 }
                        if zero { hasLeadingZero[field] = true }
                    })
            else { return nil }
        }
        for field in widths.indices where widths[field] == 0 && hasLeadingZero[field] { return nil }
        (self.widths, self.numbers) = (widths, numbers)
    }

    /// Takes the literals and the widths from a string.
    ///
    /// - Returns: By field, whether it has a zero in front; `nil` if there is no field, or a limit does not hold.
    private mutating func split(_ text: ArraySlice<UInt8>) -> [Bool]? {
        var leadingZeros: [Bool] = []
        var place = text.startIndex
        while true {
            let start = place
            while place < text.endIndex, !Self.isDigit(text[place]) { place += 1 }
            let literal = Array(text[start..<place])
            guard literal.count <= Self.longestLiteral else { return nil }
            guard place < text.endIndex else {
                tail = literal
                break
            }
            let digits = place
            while place < text.endIndex, Self.isDigit(text[place]) { place += 1 }
            guard place - digits <= Self.mostDigits, widths.count < Self.mostFields else { return nil }
            literals.append(literal)
            widths.append(place - digits > Self.widest ? 0 : place - digits)
            leadingZeros.append(place - digits > 1 && text[digits] == UInt8(ascii: "0"))
        }
        return widths.isEmpty ? nil : leadingZeros
    }

    /// Reads a string by the literals.
    ///
    /// - Parameter found: Gets each field, its number, its width, and whether it has a zero in front.
    /// - Returns: Whether the string has the pattern.
    private func read(_ text: ArraySlice<UInt8>, _ found: (Int, Int64, Int, Bool) -> Void) -> Bool {
        text.withUnsafeBufferPointer { text in
            var place = 0
            func skip(_ literal: [UInt8]) -> Bool {
                guard text.count - place >= literal.count else { return false }
                for byte in literal {
                    if text[place] != byte { return false }
                    place += 1
                }
                return true
            }
            for field in literals.indices {
                guard skip(literals[field]) else { return false }
                let start = place
                var digits: UInt64 = 0
                while place < text.count, Self.isDigit(text[place]), place - start < Self.mostDigits {
                    digits = digits &* 10 &+ UInt64(text[place] &- 48)
                    place += 1
                }
                guard place > start, let number = Int64(exactly: digits) else { return false }
                found(field, number, place - start, place - start > 1 && text[start] == UInt8(ascii: "0"))
            }
            return skip(tail) && place == text.count
        }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    // MARK: In the control area

    /// Writes the pattern; the numbers follow it.
    func write(into areas: inout SegmentAreas) {
        areas.count(literals.count)
        for (literal, width) in zip(literals, widths) {
            areas.count(literal.count)
            areas.control += literal
            areas.tag(UInt8(width))
        }
        areas.count(tail.count)
        areas.control += tail
    }

    init(from source: inout SegmentReader) throws(CompressionError) {
        for _ in 0..<(try source.control.count(limit: Self.mostFields)) {
            literals.append(try Self.literal(from: &source))
            let width = Int(try source.control.byte())
            guard width <= Self.widest else { throw .damaged(.segment) }
            widths.append(width)
        }
        tail = try Self.literal(from: &source)
    }

    private static func literal(from source: inout SegmentReader) throws(CompressionError) -> [UInt8] {
        let range = try source.control.take(try source.control.count(limit: longestLiteral))
        return Array(source.control.bytes[range])
    }

    /// - Parameter numbers: By field; none is negative.
    func strings(_ count: Int, of numbers: [[Int64]], from source: inout SegmentReader) throws(CompressionError)
        -> Strings
    {
        var strings = Strings()
        for row in 0..<count {
            let start = strings.bytes.count
            for field in literals.indices {
                strings.bytes += literals[field]
                strings.bytes.appendDecimal(numbers[field][row], width: widths[field])
            }
            strings.bytes += tail
            strings.append(start: start, length: strings.bytes.count - start)
            try source.spend(bytes: strings.bytes.count - start)
        }
        return strings
    }

    var fieldCount: Int { literals.count }
}

extension ColumnDecoder {
    func pattern(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let pattern = try DigitPattern(from: &source)
        var numbers: [[Int64]] = []
        for _ in 0..<pattern.fieldCount {
            let field = try integers(count, depth: depth + 1, from: &source)
            guard field.allSatisfy({ $0 >= 0 }) else { throw .damaged(.segment) }
            numbers.append(field)
        }
        return try pattern.strings(count, of: numbers, from: &source)
    }
}

extension [UInt8] {
    /// - Parameters:
    ///   - number: Not negative.
    ///   - width: The fewest digits, with zeros in front.
    fileprivate mutating func appendDecimal(_ number: Int64, width: Int) {
        let start = count
        var rest = number
        while rest > 0 || count - start < Swift.max(1, width) {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        self[start...].reverse()
    }
}
