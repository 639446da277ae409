import ShipCompression

// Strings that hold decimal numbers, as the numbers, field by field, and the strings with a byte in the place of each.
// Source: `Protocol/COLUMNS.md` 2, "Decimals".

extension ColumnEncoder {
    /// - Returns: `false` if too few numbers are found in the strings, or a byte that could stand for one.
    func writeDecimals(
        _ strings: Strings, _ fields: DecimalFields?, _ depth: Int, _ areas: inout SegmentAreas
    ) -> Bool {
        guard var fields else { return false }
        let layouts = fields.layouts
        var numbers = [[Int64]](repeating: [], count: layouts.count)
        var rest = Strings()
        for index in 0..<strings.count {
            let start = rest.bytes.count
            let free = strings[index].withUnsafeBufferPointer { text in
                var place = 0
                defer { rest.bytes += text[place...] }
                return Numeral.scan(text) { numeral in
                    guard let field = fields.field(of: numeral, in: text), field < layouts.count,
                        let (number, range) = layouts[field].number(of: numeral, in: text)
                    else { return }
                    numbers[field].append(number)
                    rest.bytes += text[place..<range.lowerBound]
                    rest.bytes.append(Numeral.mark(of: field))
                    place = range.upperBound
                }
            }
            guard free >= layouts.count else { return false }
            rest.append(start: start, length: rest.bytes.count - start)
        }
        areas.tag(UInt8(layouts.count))
        for layout in layouts { areas.tag(UInt8(layout.digits + 16 * layout.least)) }
        encode(rest, depth: depth + 1, areOfRows: false, into: &areas)
        for field in numbers { encode(field, depth: depth + 1, into: &areas) }
        return true
    }
}

extension ColumnDecoder {
    /// Strings into which decimal numbers are put.
    func decimals(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let fields = Int(try source.control.byte())
        guard fields > 0, fields <= SegmentLimits.decimalFields else { throw .damaged(.segment) }
        var layouts: [DecimalLayout] = []
        for _ in 0..<fields {
            let byte = Int(try source.control.byte())
            layouts.append(DecimalLayout(digits: byte % 16, least: byte / 16))
        }
        let rest = try strings(count, depth: depth + 1, areOfRows: false, from: &source)
        var counts = [Int](repeating: 0, count: fields)
        for index in 0..<count {
            for byte in rest[index] {
                if let field = Numeral.field(ofMark: byte, of: fields) { counts[field] += 1 }
            }
        }
        try source.spend(bytes: rest.totalLength - counts.reduce(0, +))
        var numbers: [ArraySlice<Int64>] = []
        for count in counts { numbers.append(try integers(count, depth: depth + 1, from: &source)[...]) }
        var whole = Strings()
        for index in 0..<count {
            let start = whole.bytes.count
            for byte in rest[index] {
                guard let field = Numeral.field(ofMark: byte, of: fields), let number = numbers[field].popFirst()
                else {
                    whole.bytes.append(byte)
                    continue
                }
                let before = whole.bytes.count
                layouts[field].append(number, to: &whole.bytes)
                try source.spend(bytes: whole.bytes.count - before)
            }
            whole.append(start: start, length: whole.bytes.count - start)
        }
        return whole
    }
}
