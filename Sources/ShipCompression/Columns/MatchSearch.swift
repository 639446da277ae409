/// Finds earlier places with the same bytes, by the hash of `keySize` bytes and chains of places that share it.
///
/// Plain buffers, because this looks at each byte of a segment's text; every index is below `count`, as the loops show.
struct MatchSearch: ~Copyable {
    enum Step {
        case literals(Int)
        case match(length: Int, distance: Int)
    }

    private static let keySize = 16
    /// Somewhat less than the 32,768 bytes that deflate sees (RFC 1951).
    private static let window = 30_000
    /// A match that deflate sees, and that is long enough for it.
    private static let enough = 128

    private let history: UnsafeMutableRawPointer
    private let count: Int
    private let depth: Int
    private let leastGain: Int
    /// Of so many places, a power of two, one is noted. A match whose beginning is not noted is found a few bytes later.
    private let stride: Int
    private let shift: UInt64
    /// The last place for each hash, -1 for none.
    private let heads: UnsafeMutablePointer<Int32>
    /// The place before each place that has the same hash.
    private let chain: UnsafeMutablePointer<Int32>
    /// Where in the literals each byte of the history is, -1 for those in matches and in the dictionary.
    private let shown: UnsafeMutablePointer<Int32>
    private let literals: UnsafeMutablePointer<UInt8>
    private var literalCount = 0
    private var place: Int
    /// How many places had nothing to find, one after the other.
    private var misses = 0

    /// - Parameters:
    ///   - text: What to look at.
    ///   - dictionary: What stands before it.
    ///   - effort: How many places are noted, and looked at.
    ///   - leastGain: See `LongMatches`.
    init(_ text: [UInt8], dictionary: [UInt8], effort: SegmentEffort, leastGain: Int) {
        depth = effort.searchDepth
        stride = effort.searchStride
        self.leastGain = leastGain
        count = dictionary.count + text.count
        place = dictionary.count
        let history = UnsafeMutableRawPointer.allocate(byteCount: count + 1, alignment: 8)
        UnsafeMutableRawBufferPointer(start: history, count: dictionary.count).copyBytes(from: dictionary)
        UnsafeMutableRawBufferPointer(start: history + dictionary.count, count: text.count).copyBytes(from: text)
        self.history = history
        let bits = max(10, min(effort.searchBits, Int.bitWidth - count.leadingZeroBitCount))
        shift = UInt64(64 - bits)
        heads = .allocate(capacity: 1 << bits)
        heads.initialize(repeating: -1, count: 1 << bits)
        chain = .allocate(capacity: count + 1)
        shown = .allocate(capacity: count + 1)
        shown.initialize(repeating: -1, count: dictionary.count)
        literals = .allocate(capacity: count + 1)
        insert(0, place)
    }

    deinit {
        history.deallocate()
        heads.deallocate()
        chain.deallocate()
        shown.deallocate()
        literals.deallocate()
    }

    /// What is in no match, in order.
    func takeLiterals() -> [UInt8] { Array(UnsafeBufferPointer(start: literals, count: literalCount)) }

    /// - Returns: `nil` at the end.
    mutating func next() -> Step? {
        guard place < count else { return nil }
        var run = 0
        while place < count {
            let found = find()
            if found.length - found.visible >= leastGain {
                if run > 0 { return .literals(run) }
                insert(place, place + found.length)
                (shown + place).initialize(repeating: -1, count: found.length)
                place += found.length
                return .match(length: found.length, distance: found.distance)
            }
            misses = found.length == 0 ? misses + 1 : 0
            // What deflate sees as one match needs no second look at each byte, and nor does what looks like noise.
            let step = min(count - place, max(1, found.visible - Self.keySize, min(misses / 32, 32)))
            insert(place, place + step)
            for index in place..<place + step {
                let byte = history.load(fromByteOffset: index, as: UInt8.self)
                (literals + literalCount).initialize(to: byte)
                (shown + index).initialize(to: Int32(truncatingIfNeeded: literalCount))
                literalCount &+= 1
            }
            place += step
            run += step
        }
        return .literals(run)
    }

    @inline(__always)
    private func insert(_ start: Int, _ end: Int) {
        let end = min(end, count - Self.keySize + 1)
        var place = (start &+ stride &- 1) & ~(stride &- 1)
        while place < end {
            let slot = slot(place)
            chain[place] = heads[slot]
            heads[slot] = Int32(truncatingIfNeeded: place)
            place &+= stride
        }
    }

    @inline(__always)
    private func word(_ place: Int) -> UInt64 { history.loadUnaligned(fromByteOffset: place, as: UInt64.self) }

    /// - Parameter place: At least `keySize` before the end.
    @inline(__always)
    private func slot(_ place: Int) -> Int {
        let mixed = (word(place) ^ (word(place &+ 8) &* 0xc2b2_ae3d_27d4_eb4f)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: mixed &>> shift)
    }

    /// The longest match at the place, and how much deflate sees itself.
    private func find() -> (length: Int, distance: Int, visible: Int) {
        var best = (length: 0, distance: 0, visible: 0)
        guard place <= count &- Self.keySize else { return best }
        var candidate = heads[slot(place)]
        for _ in 0..<depth {
            guard candidate >= 0 else { break }
            let earlier = Int(candidate)
            let length = length(earlier)
            if length >= Self.keySize {
                best.visible = max(best.visible, visible(earlier, length))
                if length > best.length { (best.length, best.distance) = (length, place - earlier) }
                if best.visible >= Self.enough { return (best.visible, best.distance, best.visible) }
            }
            candidate = chain[earlier]
        }
        return best
    }

    /// How many bytes at the place are the same as at an earlier one.
    private func length(_ earlier: Int) -> Int {
        var length = 0
        while place &+ length &+ 8 <= count {
            let difference = word(place &+ length) ^ word(earlier &+ length)
            if difference != 0 { return length &+ difference.littleEndian.trailingZeroBitCount / 8 }
            length &+= 8
        }
        while place &+ length < count,
            history.load(fromByteOffset: place &+ length, as: UInt8.self)
                == history.load(fromByteOffset: earlier &+ length, as: UInt8.self)
        {
            length &+= 1
        }
        return length
    }

    /// How much of a match deflate can see itself: what is among the last literals.
    private func visible(_ earlier: Int, _ length: Int) -> Int {
        guard shown[earlier] >= 0, literalCount &- Int(shown[earlier]) <= Self.window else { return 0 }
        var seen = 1
        // From `place` on the bytes would be literals too.
        while seen < length, earlier &+ seen >= place || shown[earlier &+ seen] >= 0 { seen &+= 1 }
        return seen
    }
}
