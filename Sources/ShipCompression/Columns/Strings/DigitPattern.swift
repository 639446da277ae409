/// What strings have in common that differ only in decimal numbers: dates, versions, numbered names.
struct DigitPattern {
    static let mostFields = 16
    static let longestLiteral = 255
    /// 10^18 still fits 64 bits.
    static let mostDigits = 18

    struct Field {
        /// What stands before it.
        let literal: [UInt8]
        /// In digits, with zeros in front; 0 for as few as the number takes.
        fileprivate(set) var width: Int
        fileprivate(set) var numbers: [Int64]
    }

    private(set) var fields: [Field] = []
    private(set) var tail: [UInt8] = []

    /// - Returns: `nil` if the strings have no pattern in common.
    init?(_ strings: Strings) {
        guard strings.count > 0, let shape = Shape(strings[0]) else { return nil }
        tail = shape.tail
        var widths = shape.widths
        var hasLeadingZero = shape.leadingZeros
        var numbers = [[Int64]](repeating: [], count: widths.count)
        for index in 0..<strings.count {
            guard
                shape.read(
                    strings[index],
                    { field, number, width, zero in
                        numbers[field].append(number)
                        if widths[field] != width { widths[field] = 0 }
                        if zero { hasLeadingZero[field] = true }
                    })
            else { return nil }
        }
        for field in widths.indices {
            if widths[field] == 0, hasLeadingZero[field] { return nil }
            fields.append(Field(literal: shape.literals[field], width: widths[field], numbers: numbers[field]))
        }
    }

    /// The parameters; the numbers follow them.
    func write(into areas: inout SegmentAreas) {
        areas.count(fields.count)
        for field in fields {
            areas.count(field.literal.count)
            areas.control += field.literal
            areas.tag(UInt8(field.width))
        }
        areas.count(tail.count)
        areas.control += tail
    }

    @inline(__always)
    fileprivate static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }
}

/// Where the digits of the first string are.
private struct Shape {
    private(set) var literals: [[UInt8]] = []
    private(set) var widths: [Int] = []
    private(set) var leadingZeros: [Bool] = []
    private(set) var tail: [UInt8] = []

    init?(_ text: ArraySlice<UInt8>) {
        var place = text.startIndex
        while true {
            let start = place
            while place < text.endIndex, !DigitPattern.isDigit(text[place]) { place += 1 }
            let literal = Array(text[start..<place])
            guard literal.count <= DigitPattern.longestLiteral else { return nil }
            guard place < text.endIndex else {
                tail = literal
                break
            }
            let digits = place
            while place < text.endIndex, DigitPattern.isDigit(text[place]) { place += 1 }
            guard place - digits <= DigitPattern.mostDigits, widths.count < DigitPattern.mostFields else { return nil }
            literals.append(literal)
            widths.append(place - digits)
            leadingZeros.append(place - digits > 1 && text[digits] == UInt8(ascii: "0"))
        }
        if widths.isEmpty { return nil }
    }

    func read(_ text: ArraySlice<UInt8>, _ found: (Int, Int64, Int, Bool) -> Void) -> Bool {
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
            for field in widths.indices {
                guard skip(literals[field]) else { return false }
                let start = place
                var number: Int64 = 0
                while place < text.count, DigitPattern.isDigit(text[place]), place - start < DigitPattern.mostDigits {
                    number = number &* 10 &+ Int64(text[place] &- 48)
                    place += 1
                }
                guard place > start else { return false }
                found(field, number, place - start, place - start > 1 && text[start] == UInt8(ascii: "0"))
            }
            return skip(tail) && place == text.count
        }
    }
}
