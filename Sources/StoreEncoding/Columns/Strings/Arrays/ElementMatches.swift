import ShipCompression

/// Elements without the runs that stand at an earlier place too, there forwards or backwards: neighbours share a border, and each goes
/// along it in its own direction.
///
/// Source: `Protocol/COLUMNS.md` 2, "Arrays".
struct ElementMatches {
    private(set) var literals: [UInt8] = []
    /// Elements before each match, since the one before.
    private(set) var runs: [Int64] = []
    /// Elements of each match, less 1.
    private(set) var lengths: [Int64] = []
    /// Of each match twice how far back it begins, less 1; 1 more where it goes backwards.
    private(set) var sources: [Int64] = []

    /// The fewest bytes of a match, which takes up to six bytes or so.
    private static let shortest = 16
    /// The fewest numbers of a match where elements are single numbers: those are often equal, and then near one another as well.
    private static let fewestSingle = 8
    /// The most earlier places of an element that are tried.
    private static let depth = 8

    init(_ elements: [UInt8], _ layout: ArrayLayout) {
        let size = layout.elementSize
        let count = elements.count / size
        let least = layout.fields == 1 ? Self.fewestSingle : (Self.shortest + size - 1) / size
        let bits = max(8, min(18, Int.bitWidth - count.leadingZeroBitCount))
        // By hash, the last element that has it; for each element the one before with the same; -1 for none.
        var heads = [Int32](repeating: -1, count: 1 << bits)
        var chain = [Int32](repeating: -1, count: count)
        elements.withUnsafeBufferPointer { bytes in
            func isSame(_ first: Int, _ second: Int) -> Bool {
                for place in 0..<size where bytes[first &* size &+ place] != bytes[second &* size &+ place] {
                    return false
                }
                return true
            }
            func hash(_ element: Int) -> Int {
                var hash: UInt64 = 0
                for place in 0..<size {
                    hash = (hash ^ UInt64(bytes[element &* size &+ place])) &* 0x9e37_79b9_7f4a_7c15
                    hash ^= hash &>> 29
                }
                return Int(truncatingIfNeeded: (hash &* 0x9e37_79b9_7f4a_7c15) &>> UInt64(64 &- bits))
            }
            var (place, literal) = (0, 0)
            func note(_ hash: Int) {
                chain[place] = heads[hash]
                heads[hash] = Int32(truncatingIfNeeded: place)
                place += 1
            }
            while place < count {
                let hash0 = hash(place)
                var best = (length: 0, source: 0)
                var earlier = Int(heads[hash0])
                for _ in 0..<Self.depth where earlier >= 0 {
                    var forwards = 0
                    while place + forwards < count, isSame(earlier + forwards, place + forwards) { forwards += 1 }
                    var backwards = 0
                    while place + backwards < count, earlier - backwards >= 0,
                        isSame(earlier - backwards, place + backwards)
                    {
                        backwards += 1
                    }
                    let source = 2 * (place - earlier - 1)
                    if forwards > best.length { best = (forwards, source) }
                    if backwards > best.length { best = (backwards, source + 1) }
                    earlier = Int(chain[earlier])
                }
                note(hash0)
                guard best.length >= least else { continue }
                runs.append(Int64(place - 1 - literal))
                literals += bytes[literal * size..<(place - 1) * size]
                lengths.append(Int64(best.length - 1))
                sources.append(Int64(best.source))
                for _ in 1..<best.length { note(hash(place)) }
                literal = place
            }
            literals += bytes[(literal * size)...]
        }
    }

    /// Puts the elements together again. It trusts no number.
    ///
    /// - Parameters:
    ///   - lengths: None is negative, and all are as many elements as the result has beside the literals.
    ///   - size: Of an element.
    static func elements(
        _ literals: [UInt8], runs: [Int64], lengths: [Int64], sources: [Int64], size: Int
    ) throws(CompressionError) -> [UInt8] {
        var elements: [UInt8] = []
        var literal = 0
        for index in runs.indices {
            guard runs[index] >= 0, runs[index] <= Int64((literals.count - literal) / size) else {
                throw .damaged(.segment)
            }
            let end = literal + Int(runs[index]) * size
            elements += literals[literal..<end]
            literal = end
            let count = elements.count / size
            guard sources[index] >= 0, sources[index] / 2 < Int64(count) else { throw .damaged(.segment) }
            let isBackwards = sources[index] % 2 == 1
            var source = count - 1 - Int(sources[index] / 2)
            guard !isBackwards || lengths[index] <= Int64(source) else { throw .damaged(.segment) }
            for _ in 0...lengths[index] {
                for place in source * size..<(source + 1) * size { elements.append(elements[place]) }
                source += isBackwards ? -1 : 1
            }
        }
        return elements + literals[literal...]
    }
}
