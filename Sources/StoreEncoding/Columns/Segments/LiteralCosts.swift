import ShipCompression

/// What the bytes of a place take where they stay in the stream: what deflate finds again takes a match of its own, and each other byte as
/// much as follows from how often it comes after those before it.
///
/// An estimate: of the last two places with the same first bytes, and with the counts of all of the text.
struct LiteralCosts {
    /// How often each byte comes in the text, after each other one, and after each two. The last by a hash.
    private var single = [UInt32](repeating: 0, count: 1 << 8)
    private var pair = [UInt32](repeating: 0, count: 1 << 16)
    private var triple = [UInt16](repeating: 0, count: 1 << tripleBits)
    private let total: Int
    /// The last place of each hash of four bytes, and of eight; -1 for none.
    private var fours = [Int32](repeating: -1, count: 1 << placeBits)
    private var eights = [Int32](repeating: -1, count: 1 << placeBits)
    /// The first place that was not noted yet.
    private var unnoted: Int

    private static let tripleBits = 20
    private static let placeBits = 15
    /// What came before tells something if it has come so often.
    private static let enough = 1000
    /// Bits that one of deflate's own matches takes.
    private static let nearMatch = 15
    private static let shortestNearMatch = 4
    /// Costs of a byte are in this part of a bit.
    private static let parts = 16

    /// - Parameter start: The place where the text begins.
    init(of text: [UInt8], from start: Int) {
        unnoted = start
        total = text.count
        guard total > 2 else { return }
        for place in 2..<total {
            let (one, two, three) = (text[place - 2], text[place - 1], text[place])
            single[Int(three)] &+= 1
            pair[Int(two) << 8 | Int(three)] &+= 1
            let slot = Self.slot(one, two, three)
            if triple[slot] < .max { triple[slot] &+= 1 }
        }
    }

    /// Notes the places up to one, which stay in the stream.
    mutating func note(_ history: UnsafeMutableRawPointer, upTo end: Int) {
        while unnoted < end {
            let word = history.loadUnaligned(fromByteOffset: unnoted, as: UInt64.self)
            fours[Self.four(word)] = Int32(truncatingIfNeeded: unnoted)
            eights[Self.eight(word)] = Int32(truncatingIfNeeded: unnoted)
            unnoted &+= 1
        }
    }

    /// Passes over places that are in a match.
    mutating func pass(upTo end: Int) { unnoted = max(unnoted, end) }

    /// - Parameters:
    ///   - needed: Fewer bits are not told apart.
    ///   - places: Those of a match.
    ///   - count: How many bytes the history has.
    ///   - visible: How many of so many bytes from a place on deflate sees.
    func areBits(
        _ needed: Int, of places: Range<Int>, in history: UnsafeMutableRawPointer, _ count: Int,
        visible: (Int, Int) -> Int
    ) -> Bool {
        // What deflate finds again takes less: most texts need no look for that.
        guard places.reduce(0, { $0 &+ literal($1, in: history) }) >= needed * Self.parts else { return false }
        var (bits, place) = (0, places.lowerBound)
        while place < places.upperBound {
            let length = place &+ 8 <= count ? found(place, upTo: places.upperBound, in: history, visible) : 0
            if length >= Self.shortestNearMatch {
                bits &+= Self.nearMatch * Self.parts
                place &+= length
            } else {
                bits &+= literal(place, in: history)
                place &+= 1
            }
        }
        return bits >= needed * Self.parts
    }

    /// How many bytes deflate finds again.
    private func found(
        _ place: Int, upTo end: Int, in history: UnsafeMutableRawPointer, _ visible: (Int, Int) -> Int
    ) -> Int {
        let here = UnsafeRawPointer(history + place)
        func seen(at earlier: Int32) -> Int {
            guard earlier >= 0 else { return 0 }
            let length = here.commonLength(with: history + Int(earlier), from: 0, atMost: end &- place)
            return length < Self.shortestNearMatch ? 0 : visible(Int(earlier), length)
        }
        let word = here.loadUnaligned(as: UInt64.self)
        return max(seen(at: fours[Self.four(word)]), seen(at: eights[Self.eight(word)]))
    }

    private func literal(_ place: Int, in history: UnsafeMutableRawPointer) -> Int {
        guard place > 1 else { return UInt8.bitWidth * Self.parts }
        func byte(_ place: Int) -> UInt8 { history.load(fromByteOffset: place, as: UInt8.self) }
        let (one, two, three) = (byte(place &- 2), byte(place &- 1), byte(place))
        let before = Int(pair[Int(one) << 8 | Int(two)])
        if before >= Self.enough { return Self.cost(Int(triple[Self.slot(one, two, three)]), of: before) }
        let last = Int(single[Int(two)])
        if last >= Self.enough { return Self.cost(Int(pair[Int(two) << 8 | Int(three)]), of: last) }
        return Self.cost(Int(single[Int(three)]), of: total)
    }

    /// The logarithm of a frequency, straight between powers of two.
    private static func cost(_ count: Int, of total: Int) -> Int {
        let shift = Float.significandBitCount - parts.trailingZeroBitCount
        return Int(Float(total).bitPattern >> shift) - Int(Float(max(1, count)).bitPattern >> shift)
    }

    private static func slot(_ one: UInt8, _ two: UInt8, _ three: UInt8) -> Int {
        let bytes = UInt32(one) << 16 | UInt32(two) << 8 | UInt32(three)
        return Int((bytes &* 0x9e37_79b1) >> UInt32(32 - tripleBits))
    }

    private static func four(_ word: UInt64) -> Int {
        Int((UInt32(truncatingIfNeeded: word) &* 0x9e37_79b1) >> UInt32(32 - placeBits))
    }

    private static func eight(_ word: UInt64) -> Int { Int((word &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 - placeBits)) }
}
