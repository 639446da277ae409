import ShipCompression

/// Finds earlier places with the same bytes, by the hash of `keySize` bytes and chains of places that share it.
///
/// It notes and tries only about one place of four, which the bytes themselves choose: equal bytes have the same places chosen wherever
/// they stand. It finds a repetition somewhere in its middle, and follows it back to its beginning. With great care it tries each place of
/// the text, and notes it: of words that come again it would miss the short ones. libdeflate and zlib find no match that is further away
/// than 32 KiB, which is why this is written by hand.
///
/// Unsafe buffers, because this looks at each byte of a segment's text; every index is below `count`, as the loops show.
struct MatchSearch: ~Copyable {
    static let keySize = 12
    /// Somewhat less than the 32,768 bytes that deflate sees (RFC 1951).
    private static let window = 30_000
    /// A match of this length that deflate sees needs no better one.
    private static let enough = 128
    /// Bits of a hash that are 0 where a place of a dictionary is chosen.
    static let unchosen: UInt64 = 3 << 60
    /// After each this many places without a match it skips one place more.
    private static let missesPerSkip = 8

    private let history: UnsafeMutableRawPointer
    private let count: Int
    private let depth: Int
    private let margin: Int
    /// What the bytes of a match take of the stream where they stay in it.
    private var costs: LiteralCosts
    /// A match of so many bytes that deflate does not see pays in any case.
    private static let sure = 64
    /// And one of fewer bytes that it does not see never does.
    private static let leastGain = 8
    /// Bits that a match takes: of the length, the distance and the run before it.
    private static let matchCost = 34
    /// More bits where the bytes stood shortly before, in a match: what stays now is seen by deflate when it comes again.
    private static let costOfNear = 20
    /// How far back the place is that the last search has found first.
    private var nearest = 0
    /// Those where a place is chosen: of the text, once the places of the dictionary are noted.
    private var unchosen = MatchSearch.unchosen
    private let shift: UInt64
    /// The last chosen place for each hash, by its number among them; -1 for none.
    private let heads: UnsafeMutablePointer<Int32>
    /// The chosen places, each with the number of the one before it that has the same hash.
    private let chosen: UnsafeMutablePointer<(place: Int32, before: Int32)>
    private var chosenCount = 0

    /// Runs of bytes in no match, before the last match: where they stand, and where among the literals.
    private var runs: [(place: Int, end: Int, literal: Int)] = []
    /// The first of them that deflate could see at the last place that was looked at.
    private var visibleRun = 0
    /// The end of the last match.
    private var runStart: Int
    /// The bytes that are in no match, in order.
    private(set) var literals: [UInt8] = []
    private var place: Int
    /// How many places in a row had no match.
    private var misses = 0
    /// The first place that was not noted yet.
    private var unnoted = 0
    /// Values that stand elsewhere too, in order, and then one after all others. Where they begin is tried and noted in any case.
    private let values: [Range<Int>]
    /// The first of them that is not tried, and the first that is not noted.
    private var (untriedValue, unnotedValue) = (0, 0)

    /// - Parameters:
    ///   - text: What to look at.
    ///   - values: See `LongMatches`.
    ///   - dictionary: What stands before it.
    ///   - effort: Limits how many places it tries.
    ///   - margin: See `LongMatches`.
    init(_ text: [UInt8], values: [Range<Int>], dictionary: MatchDictionary, effort: SegmentEffort, margin: Int) {
        depth = effort.searchDepth
        self.margin = margin
        costs = LiteralCosts(of: text, from: dictionary.bytes.count)
        let before = dictionary.bytes.count
        count = before + text.count
        place = before
        runStart = place
        self.values =
            dictionary.values.map { $0..<$0 } + values.map { $0.lowerBound + before..<$0.upperBound + before }
            + [Int.max..<Int.max]
        let history = UnsafeMutableRawPointer.allocate(byteCount: count + 1, alignment: 8)
        UnsafeMutableRawBufferPointer(start: history, count: before).copyBytes(from: dictionary.bytes)
        UnsafeMutableRawBufferPointer(start: history + before, count: text.count).copyBytes(from: text)
        self.history = history
        // One hash for each place that is chosen, about.
        let chosenPlaces = count >> effort.unchosen.nonzeroBitCount
        let bits = max(10, min(effort.searchBits, Int.bitWidth - chosenPlaces.leadingZeroBitCount))
        shift = UInt64(64 - bits)
        heads = .allocate(capacity: 1 << bits)
        heads.initialize(repeating: -1, count: 1 << bits)
        // Pages that are not written to take no memory.
        chosen = .allocate(capacity: count + 1)
        literals.reserveCapacity(text.count)
        note(upTo: before)
        unchosen = effort.unchosen
    }

    deinit {
        history.deallocate()
        heads.deallocate()
        chosen.deallocate()
    }

    /// Finds the next match, and appends the bytes before it to the literals.
    ///
    /// - Returns: How many bytes those are, and the match; `nil` for no match up to the end.
    mutating func next() -> (literals: Int, length: Int, distance: Int)? {
        while place < count {
            passUnchosen()
            guard place <= lastKey else {
                place = count
                break
            }
            let value = values[untriedValue]
            if value.lowerBound == place { untriedValue &+= 1 }
            let hash = Self.hash(history + place)
            let best = find(hash)
            note(place, hash)
            unnoted = place &+ 1
            if pays(best, asKey: value.lowerBound == place && best.length >= value.count) {
                misses = 0
                let back = followBack(best.distance)
                place -= back
                return take(best.length + back, best.distance)
            }
            misses = best.length == 0 ? misses + 1 : 0
            // It looks less closely at what deflate sees as one match, and at what looks like noise.
            let step = max(1, best.visible - Self.keySize, min(misses / Self.missesPerSkip, 32))
            place += min(count - place, values[untriedValue].lowerBound - place, step)
            note(upTo: place)
        }
        _ = takeLiterals()
        return nil
    }

    /// Whether a match of the place takes less than its bytes would.
    ///
    /// - Parameter isKey: Whether it has a value that stands elsewhere too: few others have bytes of it, which deflate would find.
    private mutating func pays(_ match: (length: Int, distance: Int, visible: Int), asKey isKey: Bool) -> Bool {
        let gain = match.length - match.visible
        guard gain < Self.sure else { return true }
        guard gain >= Self.leastGain else { return false }
        costs.note(history, upTo: place)
        var needed = Self.matchCost + (isKey ? min(0, margin) : margin)
        if !isKey, nearest <= Self.window { needed += Self.costOfNear }
        // The bytes before the place are as dear as those after it.
        needed = needed * match.length / (match.length + followBack(match.distance))
        return costs.areBits(needed, of: place..<place + match.length, in: history, count) { visible($0, $1) }
    }

    private mutating func take(_ length: Int, _ distance: Int) -> (literals: Int, length: Int, distance: Int) {
        let run = takeLiterals()
        note(upTo: place + length)
        if run > 0 { runs.append((runStart, place, literals.count - run)) }
        place += length
        runStart = place
        costs.pass(upTo: place)
        return (run, length, distance)
    }

    /// Appends the bytes since the last match to the literals.
    private mutating func takeLiterals() -> Int {
        let run = place - runStart
        literals.append(contentsOf: UnsafeRawBufferPointer(start: history + runStart, count: run))
        return run
    }

    /// The last place that has a key.
    private var lastKey: Int { count &- Self.keySize }

    /// Goes on to the next chosen place.
    private mutating func passUnchosen() {
        while values[untriedValue].lowerBound < place { untriedValue &+= 1 }
        var next = place
        let last = min(lastKey, values[untriedValue].lowerBound &- 1)
        while next <= last, !isChosen(history + next) { next &+= 1 }
        place = next
        unnoted = max(unnoted, place)
    }

    /// How much further back the bytes are the same, among those since the last match.
    private func followBack(_ distance: Int) -> Int {
        var start = place
        while start > runStart, start > distance, byte(start &- 1) == byte(start &- 1 &- distance) { start &-= 1 }
        return place - start
    }

    private mutating func note(upTo end: Int) {
        while values[unnotedValue].lowerBound < unnoted { unnotedValue &+= 1 }
        while unnoted < min(end, lastKey &+ 1) {
            let begins = values[unnotedValue].lowerBound == unnoted
            if begins { unnotedValue &+= 1 }
            if begins || isChosen(history + unnoted) {
                note(unnoted, Self.hash(history + unnoted))
            }
            unnoted &+= 1
        }
    }

    private mutating func note(_ place: Int, _ hash: UInt64) {
        let slot = slot(hash)
        (chosen + chosenCount).initialize(to: (Int32(truncatingIfNeeded: place), heads[slot]))
        heads[slot] = Int32(truncatingIfNeeded: chosenCount)
        chosenCount &+= 1
    }

    /// - Parameter place: At least 8 before the end.
    @inline(__always)
    private func isChosen(_ place: UnsafeRawPointer) -> Bool {
        (place.loadUnaligned(as: UInt64.self) &* 0x9e37_79b9_7f4a_7c15) & unchosen == 0
    }

    /// - Parameter place: At least `keySize` before the end.
    @inline(__always)
    private static func hash(_ place: UnsafeRawPointer) -> UInt64 {
        let second = place.loadUnaligned(fromByteOffset: keySize &- 8, as: UInt64.self)
        return (place.loadUnaligned(as: UInt64.self) ^ (second &* 0xc2b2_ae3d_27d4_eb4f)) &* 0x9e37_79b9_7f4a_7c15
    }

    @inline(__always)
    private func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> shift) }

    @inline(__always)
    private func byte(_ place: Int) -> UInt8 { history.load(fromByteOffset: place, as: UInt8.self) }

    @inline(__always)
    private func word(_ place: Int) -> UInt64 { history.loadUnaligned(fromByteOffset: place, as: UInt64.self) }

    /// The longest match at the place, which has this hash, and how much deflate sees itself.
    private mutating func find(_ hash: UInt64) -> (length: Int, distance: Int, visible: Int) {
        var best = (length: 0, distance: 0, visible: 0)
        let here = UnsafeRawPointer(history + place)
        var candidate = heads[slot(hash)]
        guard candidate >= 0 else { return best }
        let oldest = oldestVisible()
        for _ in 0..<depth {
            guard candidate >= 0 else { break }
            let earlier = Int(chosen[Int(candidate)].place)
            candidate = chosen[Int(candidate)].before
            // Whatever is not longer than what deflate sees of another is no better in any respect.
            guard reaches(earlier, earlier < oldest ? best.length : best.visible) else { continue }
            let length = here.commonLength(with: history + earlier, from: 0, atMost: count &- place)
            if length >= Self.keySize {
                if best.length == 0 { nearest = place &- earlier }
                if earlier >= oldest { best.visible = max(best.visible, visible(earlier, length)) }
                if length > best.length { (best.length, best.distance) = (length, place - earlier) }
                if best.visible >= Self.enough { return (best.visible, best.distance, best.visible) }
            }
        }
        return best
    }

    /// Whether the bytes up to the one at `offset` may be the same as at an earlier place: whether the last eight are.
    @inline(__always)
    private func reaches(_ earlier: Int, _ offset: Int) -> Bool {
        place &+ offset < count
            && (offset < 7 || word(place &+ offset &- 7) == word(earlier &+ offset &- 7))
    }

    /// The first place that deflate can see itself, or one before it.
    private mutating func oldestVisible() -> Int {
        let least = literals.count &+ place &- runStart &- Self.window
        guard least > 0 else { return 0 }
        func end(_ run: (place: Int, end: Int, literal: Int)) -> Int { run.literal &+ run.end &- run.place }
        while visibleRun > 0, end(runs[visibleRun &- 1]) > least { visibleRun &-= 1 }
        while visibleRun < runs.count, end(runs[visibleRun]) <= least { visibleRun &+= 1 }
        guard visibleRun < runs.count else { return max(runStart, place &- Self.window) }
        return runs[visibleRun].place &+ max(0, least &- runs[visibleRun].literal)
    }

    /// How many bytes of a match deflate can see itself: those among the last literals.
    private func visible(_ earlier: Int, _ length: Int) -> Int {
        guard earlier < runStart else {
            // From `place` on the bytes would be literals too.
            return place &- earlier <= Self.window ? length : 0
        }
        let before = literals.count &+ place &- runStart
        guard let run = run(at: earlier), before &- run.literal &- (earlier &- run.place) <= Self.window else {
            return 0
        }
        return min(length, run.end &- earlier)
    }

    /// The run before the last match that a place is in.
    private func run(at place: Int) -> (place: Int, end: Int, literal: Int)? {
        let index = runs.indices.first(notBefore: { runs[$0].end <= place })
        return index < runs.count && runs[index].place <= place ? runs[index] : nil
    }
}
