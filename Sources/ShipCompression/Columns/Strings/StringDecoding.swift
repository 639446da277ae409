extension ColumnDecoder {
    /// - Parameters:
    ///   - refers: Whether the strings are those of a whole column.
    ///   - areOfRows: Whether they may be those of rows, to whose other columns they refer then.
    func strings(
        _ count: Int, refers: Bool = false, depth: Int = 0, areOfRows: Bool = true, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        guard count > 0 else { return Strings() }
        guard depth < SegmentLimits.depth else { throw .damaged(.segmentLimit) }
        try source.spend(values: count)
        guard let tag = StringTag(rawValue: try source.control.byte()) else { throw .damaged(.segment) }
        switch tag {
        case .lengths:
            var strings = Strings(in: source.text.bytes)
            for length in try integers(count, depth: depth + 1, from: &source) {
                guard let length = Int(exactly: length) else { throw .damaged(.segment) }
                let range = try source.text.take(length)
                strings.append(start: range.lowerBound, length: length)
            }
            return strings
        case .terminated:
            var strings = Strings(in: source.text.bytes)
            for _ in 0..<count {
                let range = try source.text.takeToNul()
                strings.append(start: range.lowerBound, length: range.count)
            }
            return strings
        case .transposed: return try transposed(count, from: &source)
        case .upperUUID, .lowerUUID:
            let digits = tag == .upperUUID ? HexDigits.upper : .lower
            let bytes = try source.takeNumbers(count * 16, of: count)
            try source.spend(bytes: count * 36)
            var strings = Strings()
            strings.bytes.reserveCapacity(count * 36)
            for index in 0..<count {
                strings.append(start: strings.bytes.count, length: 36)
                digits.appendUUID(of: bytes.dropFirst(index * 16).prefix(16), to: &strings.bytes)
            }
            return strings
        case .upperHex, .lowerHex:
            let digits = tag == .upperHex ? HexDigits.upper : .lower
            let decoded = try self.strings(count, depth: depth + 2, from: &source)
            try source.spend(bytes: decoded.totalLength * 2)
            var strings = Strings()
            strings.bytes.reserveCapacity(decoded.totalLength * 2)
            for index in 0..<count {
                let bytes = decoded[index]
                strings.append(start: strings.bytes.count, length: bytes.count * 2)
                digits.append(bytes, to: &strings.bytes)
            }
            return strings
        case .propertyLists: return try propertyLists(count, depth, from: &source)
        case .deflated: return try deflated(count, depth, from: &source)
        case .identified: return try identified(count, depth, from: &source)
        case .front: return try front(count, depth, from: &source)
        case .pattern: return try pattern(count, depth, from: &source)
        case .holding: return try holding(count, refers: areOfRows && (refers || depth == 1), depth, from: &source)
        }
    }

    private func transposed(
        _ count: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let length = try source.control.count(limit: SegmentLimits.groupSize)
        let bytes = try source.takeNumbers(count * length, of: count)
        try source.spend(bytes: bytes.count)
        var strings = Strings(in: [UInt8](repeating: 0, count: bytes.count))
        bytes.withUnsafeBufferPointer { bytes in
            strings.bytes.withUnsafeMutableBufferPointer { output in
                for place in 0..<length {
                    for row in 0..<count { output[row &* length &+ place] = bytes[place &* count &+ row] }
                }
            }
        }
        for row in 0..<count { strings.append(start: row * length, length: length) }
        return strings
    }

    private func front(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let prefixes = try integers(count, depth: depth + 1, from: &source)
        let suffixes = try strings(count, depth: depth + 2, from: &source)
        var whole = Strings()
        for (index, prefix) in prefixes.enumerated() {
            let last = index == 0 ? (start: 0, length: 0) : whole.place(of: index - 1)
            guard prefix >= 0, prefix <= Int64(last.length) else { throw .damaged(.segment) }
            let suffix = suffixes[index]
            try source.spend(bytes: Int(prefix) + suffix.count)
            let start = whole.bytes.count
            whole.bytes.append(contentsOf: Array(whole.bytes[last.start..<last.start + Int(prefix)]))
            whole.bytes.append(contentsOf: suffix)
            whole.append(start: start, length: Int(prefix) + suffix.count)
        }
        return whole
    }

    private func pattern(
        _ count: Int, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let number = try source.control.count(limit: DigitPattern.mostFields)
        var literals: [ArraySlice<UInt8>] = []
        var widths: [Int] = []
        for _ in 0..<number {
            let length = try source.control.count(limit: DigitPattern.longestLiteral)
            let range = try source.control.take(length)
            literals.append(source.control.bytes[range])
            widths.append(Int(try source.control.byte()))
            guard widths[widths.count - 1] <= DigitPattern.mostDigits else { throw .damaged(.segment) }
        }
        let length = try source.control.count(limit: DigitPattern.longestLiteral)
        let range = try source.control.take(length)
        let tail = source.control.bytes[range]
        var fields: [[Int64]] = []
        for _ in 0..<number {
            let numbers = try integers(count, depth: depth + 1, from: &source)
            guard numbers.allSatisfy({ $0 >= 0 }) else { throw .damaged(.segment) }
            fields.append(numbers)
        }
        var strings = Strings()
        for row in 0..<count {
            let start = strings.bytes.count
            for field in 0..<number {
                strings.bytes += literals[field]
                DecimalDigits.append(fields[field][row], width: widths[field], to: &strings.bytes)
            }
            strings.bytes += tail
            strings.append(start: start, length: strings.bytes.count - start)
            try source.spend(bytes: strings.bytes.count - start)
        }
        return strings
    }

    private func holding(
        _ count: Int, refers: Bool, _ depth: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> Strings {
        let referred = try texts(try source.control.count(limit: SegmentLimits.columns))
        guard refers, referred.count == count else { throw .damaged(.segment) }
        let places = try integers(count, depth: depth + 1, from: &source)
        let rest = try strings(count, depth: depth + 1, from: &source)
        var whole = Strings()
        whole.bytes.reserveCapacity(rest.totalLength)
        for (index, place) in places.enumerated() {
            let part = rest[index]
            guard place >= 0, place <= Int64(part.count) + 1 else { throw .damaged(.segment) }
            let held = place == 0 ? [] : referred[index]
            let start = whole.bytes.count
            try source.spend(bytes: part.count + held.count)
            whole.bytes += part.prefix(max(0, Int(place) - 1))
            whole.bytes += held
            whole.bytes += part.dropFirst(max(0, Int(place) - 1))
            whole.append(start: start, length: part.count + held.count)
        }
        return whole
    }
}

extension Strings {
    fileprivate func place(of index: Int) -> (start: Int, length: Int) {
        (Int(starts[index]), Int(lengths[index]))
    }
}

/// Numbers in decimal.
private enum DecimalDigits {
    /// - Parameters:
    ///   - number: Not negative.
    ///   - width: Digits at least, with zeros in front.
    static func append(_ number: Int64, width: Int, to text: inout [UInt8]) {
        let start = text.count
        var rest = number
        while rest > 0 || text.count - start < max(1, width) {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        text[start...].reverse()
    }
}
