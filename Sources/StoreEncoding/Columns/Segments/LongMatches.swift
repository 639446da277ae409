import ShipCompression

/// The text area without what it repeats from further back than deflate can see. The search begins with the built-in dictionary.
///
/// Source: `Protocol/COLUMNS.md` 2, "The segment".
struct LongMatches {
    /// The least length that the format has.
    static let shortest = 8

    /// The rest of the text, in order.
    private(set) var literals: [UInt8] = []
    /// Literals before each match.
    private(set) var runs: [UInt8] = []
    /// Lengths of the matches, less `shortest`.
    private(set) var lengths: [UInt8] = []
    /// How far back each match is, less 1, as the form has it.
    private(set) var distances: [UInt8] = []
    private(set) var count = 0

    /// How distances are written.
    enum Distances: Hashable, Sendable {
        case whole
        /// Each less the one before: what comes in the order in which the dictionary has it is as far back as what came before.
        case differences

        /// - Parameter numbers: As they are written.
        func restored(_ numbers: [UInt64]) -> [UInt64] {
            guard self == .differences else { return numbers }
            var last: Int64 = 0
            return numbers.map { number in
                last &+= Int64(zigzag: number)
                return UInt64(bitPattern: last)
            }
        }
    }

    /// - Parameters:
    ///   - values: Where values are in the text that are matches if they stand anywhere before, in order.
    ///   - margin: Bits that a match must save beyond what it takes: deflate cannot refer to what it covers.
    init(
        _ text: [UInt8], values: [Range<Int>] = [], dictionary: MatchDictionary, effort: SegmentEffort, margin: Int,
        distances form: Distances = .whole
    ) {
        var last: Int64 = 0
        var search = MatchSearch(text, values: values, dictionary: dictionary, effort: effort, margin: margin)
        while let (run, length, distance) = search.next() {
            runs.appendVarint(UInt64(run))
            lengths.appendVarint(UInt64(length - Self.shortest))
            let number = Int64(distance - 1)
            distances.appendVarint(form == .whole ? UInt64(number) : (number - last).zigzag)
            last = number
            count += 1
        }
        literals = search.literals
    }

    /// Puts the text area, of at most `SegmentLimits.textSize` bytes, together again. It trusts no number.
    static func text(
        _ literals: ArraySlice<UInt8>, runs: [UInt64], lengths: [UInt64], distances: [UInt64], size: Int,
        dictionary: [UInt8]
    ) throws(CompressionError) -> [UInt8] {
        guard !runs.isEmpty else {
            guard literals.count == size else { throw .damaged(.segment) }
            return Array(literals)
        }
        var isSound = true
        let text = [UInt8](unsafeUninitializedCapacity: size) { text, count in
            count = 0
            literals.withUnsafeBufferPointer { literals in
                dictionary.withUnsafeBufferPointer { dictionary in
                    var taken = 0
                    func put(_ run: Int) -> Bool {
                        guard run <= literals.count - taken, run <= size - count else { return false }
                        if run > 0, let from = literals.baseAddress, let to = text.baseAddress {
                            (to + count).initialize(from: from + taken, count: run)
                        }
                        taken += run
                        count += run
                        return true
                    }
                    for index in 0..<runs.count {
                        guard runs[index] <= UInt64(size), lengths[index] <= UInt64(size), put(Int(runs[index])),
                            Int(lengths[index]) + shortest <= size - count,
                            distances[index] < UInt64(count + dictionary.count)
                        else {
                            isSound = false
                            return
                        }
                        var from = count - Int(distances[index]) - 1
                        for _ in 0..<Int(lengths[index]) + shortest {
                            text[count] = from < 0 ? dictionary[dictionary.count + from] : text[from]
                            count += 1
                            from += 1
                        }
                    }
                    isSound = put(literals.count - taken) && count == size
                }
            }
        }
        guard isSound else { throw .damaged(.segment) }
        return text
    }
}
