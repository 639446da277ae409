import ShipCompression

// Strings that hold runs of digits, as the bytes of the runs, and the strings with a byte in the place of each. Among other text a digit
// takes more bits than it says, and what bytes hold shows in them alone.
// Source: `Protocol/COLUMNS.md` 2, "Digits".

/// The runs of one kind. The bytes 1 to 8 of a rest stand for those of the fields.
private struct DigitField {
    let form: DigitForm
    var runs = Strings()

    static func isMark(_ byte: UInt8, of fields: Int) -> Bool { byte &- 1 < fields }
}

extension ColumnEncoder {
    /// - Returns: `false` if there are no runs.
    func writeDigits(_ strings: Strings, _ search: DigitRunSearch?, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let search else { return false }
        var fields = search.kinds.map { DigitField(form: search.form(of: $0)) }
        var rest = Strings()
        for index in 0..<strings.count {
            let start = rest.bytes.count
            let isText = strings[index].withUnsafeBufferPointer { text in
                if text.contains(where: { DigitField.isMark($0, of: fields.count) }) { return false }
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
        areas.tag(UInt8(fields.count))
        for field in fields { field.form.write(into: &areas) }
        encode(rest, depth: depth + 1, areOfRows: false, into: &areas)
        for (kind, field) in zip(search.kinds, fields) {
            // A sample does not show what comes again.
            if search.areKeys || search.repeated.contains(kind) {
                if search.areKeys { areas.note(field.runs, of: sharedKeys?.inBytes) }
                encodeAsTheyStand(field.runs, depth: depth + 1, into: &areas)
            } else {
                encode(field.runs, depth: depth + 1, areOfRows: false, into: &areas)
            }
        }
        return true
    }
}

extension ColumnDecoder {
    /// Strings into which runs of digits are put.
    func digits(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let fieldCount = Int(try source.control.byte())
        guard 1...SegmentLimits.digitFields ~= fieldCount else { throw .damaged(.segment) }
        var fields: [DigitField] = []
        for _ in 0..<fieldCount { fields.append(DigitField(form: try DigitForm(from: &source))) }
        let rest = try strings(count, depth: depth + 1, areOfRows: false, from: &source)
        var counts = [Int](repeating: 0, count: fieldCount)
        for index in 0..<count {
            for byte in rest[index] where DigitField.isMark(byte, of: fieldCount) { counts[Int(byte) - 1] += 1 }
        }
        try source.spend(bytes: rest.totalLength - counts.reduce(0, +))
        for field in fields.indices {
            let runs = try strings(counts[field], depth: depth + 1, areOfRows: false, from: &source)
            var size = 0
            for length in runs.lengths {
                guard let digits = fields[field].form.size(of: Int(length)) else { throw .damaged(.segment) }
                size += digits
            }
            try source.spend(bytes: size)
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
                fields[field].form.append(fields[field].runs[next[field]], to: &whole.bytes)
                next[field] += 1
            }
            whole.append(start: start, length: whole.bytes.count - start)
        }
        return whole
    }
}
