import ShipCompression

// Strings that hold those of an earlier column, without them. Source: `Protocol/COLUMNS.md` 2, "Strings(n)".

extension ColumnEncoder {
    /// Writes where each string holds the one of `other`, from 1 on and 0 for nowhere, and what is left of the strings.
    ///
    /// - Returns: `false` if none holds one.
    func write(_ strings: Strings, holding other: Strings, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        var places: [Int64] = []
        var rest = Strings()
        var isAnyHeld = false
        rest.bytes.reserveCapacity(strings.totalLength)
        for index in 0..<strings.count {
            guard let place = strings.place(of: other, at: index) else {
                places.append(0)
                rest.append(strings[index])
                continue
            }
            isAnyHeld = true
            places.append(Int64(place) + 1)
            let start = rest.bytes.count
            let string = strings[index]
            rest.bytes += string.prefix(place)
            rest.bytes += string.dropFirst(place + Int(other.lengths[index]))
            rest.append(start: start, length: rest.bytes.count - start)
        }
        guard isAnyHeld else { return false }
        encode(places, depth: depth + 1, into: &areas)
        encode(rest, depth: depth + 1, into: &areas)
        return true
    }

    /// Earlier text columns that most of the strings hold.
    func holders(of strings: Strings) -> [Int] {
        let rows = Array(0..<strings.count).sampled(min(strings.count, 256))
        var found: [(index: Int, saved: Int)] = []
        for (index, _) in valueReferences.withinReach {
            guard let referred = texts(ofColumn: index), referred.count == strings.count else { continue }
            if let saved = strings.saved(holding: referred, in: rows) { found.append((index, saved)) }
        }
        return found.sorted { $0.saved > $1.saved }.prefix(2).map(\.index)
    }
}

extension ColumnDecoder {
    /// - Parameter refers: Whether the strings are those of a column that may refer to earlier ones.
    func holding(
        _ count: Int, refers: Bool, _ depth: Int, from source: inout SegmentReader
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
    // Shorter strings are found by chance. The search takes the product of both lengths at worst.
    private static let heldLengths = 2...256
    private static let longestHolder = 16_384

    /// - Parameter rows: The rows to look at.
    /// - Returns: How many bytes fewer they would have; `nil` unless most of them hold the string of `other`.
    fileprivate func saved(holding other: Strings, in rows: [Int]) -> Int? {
        var (saved, missed) = (0, 0)
        for row in rows {
            if place(of: other, at: row) != nil {
                saved += Int(other.lengths[row])
            } else {
                missed += 1
                if missed * 2 >= rows.count { return nil }
            }
        }
        return saved
    }

    /// Where a string holds the one of `other`.
    fileprivate func place(of other: Strings, at index: Int) -> Int? {
        let (length, held) = (Int(lengths[index]), Int(other.lengths[index]))
        guard Self.heldLengths.contains(held), held <= length, length <= Self.longestHolder else { return nil }
        return bytes.withUnsafeBufferPointer { text in
            other.bytes.withUnsafeBufferPointer { sought in
                let (start, first) = (Int(starts[index]), Int(other.starts[index]))
                for place in 0...(length &- held) where text[start &+ place] == sought[first] {
                    var same = 1
                    while same < held, text[start &+ place &+ same] == sought[first &+ same] { same &+= 1 }
                    if same == held { return place }
                }
                return nil
            }
        }
    }
}
