/// Strings that hold a UUID, as its 16 bytes and without it.
///
/// Source: `Protocol/COLUMNS.md` 2, "Identified".
struct IdentifiedStrings {
    private struct Identifier {
        let digits: HexDigits
        /// How many bytes stand before it.
        let place: Int
        let bytes: [UInt8]

        var number: Int64 { Int64(1 + (digits == .upper ? 0 : 1) + 2 * place) }

        /// - Returns: The first of a string.
        init?(in string: ArraySlice<UInt8>) {
            guard let place = IdentifiedStrings.place(in: string) else { return nil }
            let text = string.dropFirst(place).prefix(IdentifiedStrings.length)
            for digits in [HexDigits.upper, .lower] {
                var bytes: [UInt8] = []
                guard digits.appendUUID(text, to: &bytes) else { continue }
                (self.digits, self.place, self.bytes) = (digits, place, bytes)
                return
            }
            return nil
        }
    }

    /// Bytes of a UUID in hexadecimal.
    private static let length = 36
    /// Bytes of a string that are looked at.
    private static let searched = 128

    /// Where hyphens stand as in a UUID.
    private static func place(in string: ArraySlice<UInt8>) -> Int? {
        string.withUnsafeBufferPointer { text in
            let last = min(text.count, searched) - length
            guard last >= 0 else { return nil }
            let hyphen = UInt8(ascii: "-")
            for place in 0...last where text[place &+ 8] == hyphen {
                if text[place &+ 13] == hyphen, text[place &+ 18] == hyphen, text[place &+ 23] == hyphen {
                    return place
                }
            }
            return nil
        }
    }

    /// By string: 0 for one that holds none, or the case of its digits and its place.
    private(set) var places: [Int64] = []
    /// 16 for each that is held.
    private(set) var bytes: [UInt8] = []
    private(set) var rest = Strings()

    /// - Returns: `nil` if none holds one.
    init?(_ strings: Strings) {
        for index in 0..<strings.count {
            let string = strings[index]
            guard let found = Identifier(in: string) else {
                places.append(0)
                rest.append(string)
                continue
            }
            places.append(found.number)
            bytes += found.bytes
            rest.append(string.prefix(found.place) + string.dropFirst(found.place + Self.length))
        }
        if bytes.isEmpty { return nil }
    }

    /// About.
    static func isHeld(by string: ArraySlice<UInt8>) -> Bool { place(in: string) != nil }
}

extension ColumnDecoder {
    /// Strings into which UUIDs are put.
    func identified(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let places = try integers(count, depth: depth + 1, from: &source)
        let held = places.count { $0 != 0 }
        var bytes = try source.takeNumbers(held * 16, of: held)
        let rest = try strings(count, depth: depth + 1, from: &source)
        var whole = Strings()
        for (index, number) in places.enumerated() {
            let part = rest[index]
            let start = whole.bytes.count
            if number == 0 {
                whole.bytes += part
            } else {
                guard number > 0, (number - 1) / 2 <= Int64(part.count) else { throw .damaged(.segment) }
                let place = Int((number - 1) / 2)
                whole.bytes += part.prefix(place)
                (number % 2 == 1 ? HexDigits.upper : .lower).appendUUID(of: bytes.prefix(16), to: &whole.bytes)
                whole.bytes += part.dropFirst(place)
                bytes = bytes.dropFirst(16)
            }
            try source.spend(bytes: whole.bytes.count - start)
            whole.append(start: start, length: whole.bytes.count - start)
        }
        return whole
    }
}
