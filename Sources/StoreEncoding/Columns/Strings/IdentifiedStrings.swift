import ShipCompression

// Strings that hold a UUID, as its 16 bytes and without it. Source: `Protocol/COLUMNS.md` 2, "Identified".

extension ColumnEncoder {
    /// Writes for each string where its UUID is and of which case, or 0 if it holds none; then all UUIDs, and what is left of the strings.
    ///
    /// - Returns: `false` if none holds one.
    func writeIdentified(_ strings: Strings, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        var places: [Int64] = []
        var bytes: [UInt8] = []
        var rest = Strings()
        for index in 0..<strings.count {
            let string = strings[index]
            guard let (place, digits) = HexDigits.appendFirstUUID(in: string, to: &bytes) else {
                places.append(0)
                rest.append(string)
                continue
            }
            places.append(Int64(1 + (digits == .upper ? 0 : 1) + 2 * place))
            rest.append(string.prefix(place) + string.dropFirst(place + HexDigits.uuidLength))
        }
        if bytes.isEmpty { return false }
        encode(places, depth: depth + 1, into: &areas)
        areas.appendNumbers(bytes, of: bytes.count / 16)
        encode(rest, depth: depth + 1, into: &areas)
        return true
    }
}

extension ColumnDecoder {
    /// Strings into which UUIDs are put.
    func identified(
        _ count: Int, _ depth: Int, from source: inout SegmentReader
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

extension HexDigits {
    /// How many bytes of a string are searched.
    private static let searched = 128

    /// Where hyphens stand as in a UUID, near the beginning of a string.
    static func likelyUUID(in string: ArraySlice<UInt8>) -> Int? {
        string.withUnsafeBufferPointer { text in
            let last = min(text.count, searched) - uuidLength
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

    /// Appends the 16 bytes of the first UUID in a string.
    ///
    /// - Returns: Where it stands; `nil` if there is none.
    fileprivate static func appendFirstUUID(
        in string: ArraySlice<UInt8>, to bytes: inout [UInt8]
    ) -> (place: Int, digits: HexDigits)? {
        guard let place = likelyUUID(in: string) else { return nil }
        let text = string.dropFirst(place).prefix(uuidLength)
        let count = bytes.count
        for digits in [HexDigits.upper, .lower] {
            if digits.appendUUID(text, to: &bytes) { return (place, digits) }
            bytes.removeSubrange(count...)
        }
        return nil
    }
}
