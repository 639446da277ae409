import ShipCompression

/// Strings that hold arrays of numbers: the numbers, field by field, without the elements that an earlier place has too, and what stands
/// around the arrays.
///
/// Source: `Protocol/COLUMNS.md` 2, "Arrays".
struct ArrayStrings {
    private let layout: ArrayLayout
    /// By string: how many arrays it holds.
    private var numbers: [Int64] = []
    /// By array: bytes between the array before it, or the beginning of the string, and itself.
    private var gaps: [Int64] = []
    /// By array: its elements.
    private var counts: [Int64] = []
    /// The strings without their arrays.
    private var rest = Strings()
    private var elements: [UInt8] = []

    /// - Returns: `nil` if no array is found in them, or more than a reader takes.
    init?(_ strings: Strings) {
        guard let finder = ArrayFinder(strings) else { return nil }
        layout = finder.layout
        for index in 0..<strings.count {
            let string = strings[index]
            let arrays = finder.arrays(in: string)
            numbers.append(Int64(arrays.count))
            let start = rest.bytes.count
            var place = string.startIndex
            for array in arrays {
                gaps.append(Int64(array.lowerBound - place))
                counts.append(Int64(array.count / layout.elementSize))
                rest.bytes += string[place..<array.lowerBound]
                elements += string[array]
                place = array.upperBound
            }
            rest.bytes += string[place...]
            rest.append(start: start, length: rest.bytes.count - start)
        }
        guard !elements.isEmpty, counts.count <= SegmentLimits.arrays,
            elements.count / layout.elementSize <= SegmentLimits.elements
        else { return nil }
    }

    fileprivate func write(by encoder: ColumnEncoder, _ depth: Int, _ areas: inout SegmentAreas) {
        layout.write(into: &areas)
        encoder.encode(numbers, depth: depth, into: &areas)
        encoder.encode(gaps, depth: depth, into: &areas)
        encoder.encode(counts, depth: depth, into: &areas)
        encoder.encode(rest, depth: depth, areOfRows: false, into: &areas)
        let matches = ElementMatches(elements, layout)
        areas.count(matches.runs.count)
        for numbers in [matches.runs, matches.lengths, matches.sources] {
            encoder.encode(numbers, depth: depth, into: &areas)
        }
        for field in 0..<layout.fields {
            if layout.width == ArrayLayout.realWidth {
                encoder.encode(reals: layout.patterns(field, of: matches.literals), depth: depth, into: &areas)
            } else {
                encoder.encode(layout.integers(field, of: matches.literals), depth: depth, into: &areas)
            }
        }
    }
}

extension ColumnEncoder {
    /// - Returns: `false` if no array is found in the strings.
    func writeArrays(_ strings: Strings, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let arrays = ArrayStrings(strings) else { return false }
        arrays.write(by: self, depth + 1, &areas)
        return true
    }
}

extension ColumnDecoder {
    /// Strings into which arrays are put.
    func arrays(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let depth = depth + 1
        let layout = try ArrayLayout(from: &source.control)
        let numbers = try integers(count, depth: depth, from: &source)
        var arrays = 0
        for number in numbers {
            guard number >= 0, number <= Int64(SegmentLimits.arrays - arrays) else { throw .damaged(.segmentLimit) }
            arrays += Int(number)
        }
        let gaps = try integers(arrays, depth: depth, from: &source)
        let counts = try integers(arrays, depth: depth, from: &source)
        let rest = try strings(count, depth: depth, areOfRows: false, from: &source)
        var left = 0
        let most = min(SegmentLimits.elements, SegmentLimits.builtSize / layout.elementSize)
        for count in counts {
            guard count >= 0, count <= Int64(most - left) else { throw .damaged(.segmentLimit) }
            left += Int(count)
        }
        try source.spend(bytes: left * layout.elementSize + rest.totalLength)
        let elements = try elements(left, layout, depth, from: &source)
        var whole = Strings()
        whole.bytes.reserveCapacity(elements.count + rest.totalLength)
        var (array, taken) = (0, 0)
        for (index, number) in numbers.enumerated() {
            let start = whole.bytes.count
            var part = rest[index]
            for _ in 0..<number {
                guard gaps[array] >= 0, gaps[array] <= Int64(part.count) else { throw .damaged(.segment) }
                let size = Int(counts[array]) * layout.elementSize
                whole.bytes += part.prefix(Int(gaps[array]))
                whole.bytes += elements[taken..<taken + size]
                part = part.dropFirst(Int(gaps[array]))
                taken += size
                array += 1
            }
            whole.bytes += part
            whole.append(start: start, length: whole.bytes.count - start)
        }
        return whole
    }

    /// - Parameter count: Their bytes have been counted as work.
    private func elements(
        _ count: Int, _ layout: ArrayLayout, _ depth: Int, from source: inout SegmentReader
    ) throws(CompressionError) -> [UInt8] {
        let number = try source.control.count(limit: min(count, SegmentLimits.arrays))
        let runs = try integers(number, depth: depth, from: &source)
        let lengths = try integers(number, depth: depth, from: &source)
        let sources = try integers(number, depth: depth, from: &source)
        var left = count
        for length in lengths {
            guard length >= 0, length < Int64(left) else { throw .damaged(.segment) }
            left -= Int(length) + 1
        }
        var literals = [UInt8](repeating: 0, count: left * layout.elementSize)
        for field in 0..<layout.fields {
            if layout.width == ArrayLayout.realWidth {
                layout.put(try reals(left, depth: depth, from: &source), in: field, of: &literals)
            } else {
                let values = try integers(left, depth: depth, from: &source)
                guard values.allSatisfy(layout.holds) else { throw .damaged(.segment) }
                layout.put(values.lazy.map(UInt64.init(bitPattern:)), in: field, of: &literals)
            }
        }
        return try ElementMatches.elements(
            literals, runs: runs, lengths: lengths, sources: sources, size: layout.elementSize)
    }
}
