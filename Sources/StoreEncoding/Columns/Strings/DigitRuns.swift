import ShipCompression

// Strings that hold runs of hexadecimal digits, as the bytes of the runs, and the strings with a byte in the place of each. Among other text a
// digit takes some six bits, and not the four that it says.
// Source: `Protocol/COLUMNS.md` 2, "Digits".

/// The runs of one kind. The bytes 1 to 8 of a rest stand for those of the fields.
private struct DigitField {
    enum Form: UInt8 {
        case digits = 0
        /// 8-4-4-4-12 digits.
        case uuid = 1
    }

    let form: Form
    var runs = Strings()

    static func isMark(_ byte: UInt8, of fields: Int = SegmentLimits.digitFields) -> Bool { byte &- 1 < fields }
}

extension ColumnEncoder {
    /// - Returns: `false` if there are no runs, or a byte that could stand for one.
    func writeDigits(_ strings: Strings, _ search: DigitRunSearch?, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let search else { return false }
        var fields = search.kinds.map { DigitField(form: $0 == DigitRunSearch.uuid ? .uuid : .digits) }
        var rest = Strings()
        for index in 0..<strings.count {
            let start = rest.bytes.count
            let isText = strings[index].withUnsafeBufferPointer { text in
                guard !text.contains(where: { DigitField.isMark($0) }) else { return false }
                var place = 0
                search.scan(text) { run, bytes, field in
                    rest.bytes += text[place..<run.lowerBound]
                    rest.bytes.append(UInt8(field + 1))
                    place = run.upperBound
                    fields[field].runs.append(bytes)
                }
                rest.bytes += text[place...]
                return true
            }
            guard isText else { return false }
            rest.append(start: start, length: rest.bytes.count - start)
        }
        areas.tag(search.digits == .upper ? 0 : 1)
        areas.tag(UInt8(fields.count))
        for field in fields { areas.tag(field.form.rawValue) }
        encode(rest, depth: depth + 1, areOfRows: false, into: &areas)
        for (kind, field) in zip(search.kinds, fields) {
            // A sample does not show what comes again.
            if search.repeated.contains(kind) {
                encodeAsTheyStand(field.runs, depth: depth + 1, into: &areas)
            } else {
                encode(field.runs, depth: depth + 1, areOfRows: false, into: &areas)
            }
        }
        return true
    }
}

extension ColumnDecoder {
    /// Strings into which runs of hexadecimal digits are put.
    func digits(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let (form, fieldCount) = (try source.control.byte(), Int(try source.control.byte()))
        guard form <= 1, fieldCount > 0, fieldCount <= SegmentLimits.digitFields else { throw .damaged(.segment) }
        let digits = form == 0 ? HexDigits.upper : .lower
        var fields: [DigitField] = []
        for _ in 0..<fieldCount {
            guard let form = DigitField.Form(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
            fields.append(DigitField(form: form))
        }
        let rest = try strings(count, depth: depth + 1, areOfRows: false, from: &source)
        var counts = [Int](repeating: 0, count: fieldCount)
        for index in 0..<count {
            for byte in rest[index] where DigitField.isMark(byte, of: fieldCount) { counts[Int(byte) - 1] += 1 }
        }
        try source.spend(bytes: rest.totalLength - counts.reduce(0, +))
        for field in fields.indices {
            let runs = try strings(counts[field], depth: depth + 1, areOfRows: false, from: &source)
            guard fields[field].form == .digits || runs.lengths.allSatisfy({ $0 == 16 }) else {
                throw .damaged(.segment)
            }
            try source.spend(
                bytes: fields[field].form == .uuid ? HexDigits.uuidLength * runs.count : 2 * runs.totalLength)
            fields[field].runs = runs
        }
        var (whole, next) = (Strings(), [Int](repeating: 0, count: fieldCount))
        for index in 0..<count {
            let start = whole.bytes.count
            for byte in rest[index] {
                guard DigitField.isMark(byte, of: fieldCount) else {
                    whole.bytes.append(byte)
                    continue
                }
                let field = Int(byte) - 1
                let run = fields[field].runs[next[field]]
                next[field] += 1
                switch fields[field].form {
                case .digits: digits.append(run, to: &whole.bytes)
                case .uuid: digits.appendUUID(of: run, to: &whole.bytes)
                }
            }
            whole.append(start: start, length: whole.bytes.count - start)
        }
        return whole
    }
}
