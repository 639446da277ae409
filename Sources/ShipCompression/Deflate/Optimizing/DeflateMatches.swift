/// Finds all matches that a deflate stream could take, byte by byte: for each length the nearest one.
///
/// It goes along hash chains, as zlib does. zlib takes the first match that is good enough; `OptimalParse` chooses among all.
/// Unsafe buffers, because this looks at each byte of a text many times; every index is below `bytes.count`, as the loops show.
struct DeflateMatches: ~Copyable {
    private static let reach = DeflateFormat.window
    private static let hashBits = 16
    /// How many earlier places with the same hash it tries.
    private static let depth = 256
    /// And how many where the place before has a match of at least so many bytes, as zlib does (`good_length`, deflate.c).
    private static let (longEnough, depthOfLong) = (64, 16)

    /// The bytes before, as far as matches reach, and the bytes to deflate.
    private let bytes: [UInt8]
    /// Where the next window begins.
    private var place: Int
    /// The last place of each hash of three bytes; -1 for none. A match that is no longer goes no further back.
    private let nearest: UnsafeMutablePointer<Int32>
    /// The last place of each hash of four bytes, and of each place the one before it with the same hash.
    private let last: UnsafeMutablePointer<Int32>
    private let earlier: UnsafeMutablePointer<Int32>
    /// The longest match at the place before: at the same distance there is one that is at most a byte shorter. In long runs nothing else is
    /// compared.
    private var before = (length: 0, distance: 0)

    /// - Parameters:
    ///   - bytes: At most 2^31 - 32,769.
    ///   - preset: What stands before them.
    init(of bytes: [UInt8], after preset: [UInt8]) {
        let before = preset.suffix(Self.reach)
        self.bytes = before + bytes
        place = 0
        let slots = 1 << Self.hashBits
        nearest = .allocate(capacity: 2 * slots + Self.reach)
        nearest.initialize(repeating: -1, count: 2 * slots + Self.reach)
        (last, earlier) = (nearest + slots, nearest + 2 * slots)
        skip(before.count)
    }

    deinit { nearest.deallocate() }

    /// How many bytes are still to come.
    var left: Int { bytes.count - place }

    /// Finds no matches for the next `count` bytes. Later matches may reach into them.
    mutating func skip(_ count: Int) {
        let end = place + count
        before = (0, 0)
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for place in place..<max(place, min(end, bytes.count &- DeflateFormat.shortestMatch &+ 1)) {
                note(place, start, until: bytes.count)
            }
        }
        place = end
    }

    /// The matches of the next `count` bytes.
    mutating func next(_ count: Int) -> OptimalParse {
        let range = place..<(place + count)
        var parse = OptimalParse(bytes: bytes[range])
        parse.ends.reserveCapacity(count)
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for place in range {
                if place &+ DeflateFormat.shortestMatch <= bytes.count {
                    let candidates = note(place, start, until: bytes.count)
                    find(at: place, end: range.upperBound, start, candidates, &parse.matches)
                }
                parse.ends.append(Int32(truncatingIfNeeded: parse.matches.count))
            }
        }
        place = range.upperBound
        return parse
    }

    @inline(__always)
    private static func slot(_ bytes: UInt32) -> Int { Int((bytes &* 0x9e37_79b1) &>> UInt32(32 &- hashBits)) }

    /// Notes a place, which has three bytes at least.
    ///
    /// - Returns: The last places before it that have the same hash of three bytes, and of four; -1 for none.
    @inline(__always) @discardableResult
    private func note(_ place: Int, _ start: UnsafeRawPointer, until count: Int) -> (three: Int, four: Int) {
        let new = Int32(truncatingIfNeeded: place)
        let three =
            UInt32(start.loadUnaligned(fromByteOffset: place, as: UInt16.self)) &<< 8
            | UInt32(start.load(fromByteOffset: place &+ 2, as: UInt8.self))
        let slot = Self.slot(three)
        let nearest = Int(self.nearest[slot])
        self.nearest[slot] = new
        guard place &+ 4 <= count else { return (nearest, -1) }
        let slotOfFour = Self.slot(start.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        let last = self.last[slotOfFour]
        earlier[place & (Self.reach &- 1)] = last
        self.last[slotOfFour] = new
        return (nearest, Int(last))
    }

    @inline(__always)
    private mutating func find(
        at place: Int, end: Int, _ start: UnsafeRawPointer, _ candidates: (three: Int, four: Int),
        _ matches: inout [OptimalParse.Match]
    ) {
        let longest = min(DeflateFormat.longestMatch, end &- place)
        var best = DeflateFormat.shortestMatch &- 1
        let known = before
        before = (0, 0)
        guard longest > best else { return }
        let target = start + place
        var (candidate, next, left) = (candidates.three, candidates.four, Self.depth)
        if known.length >= Self.longEnough { left = Self.depthOfLong }
        while candidate >= 0, place &- candidate <= Self.reach, left > 0 {
            let other = start + candidate
            if other.loadUnaligned(fromByteOffset: best &- 1, as: UInt16.self)
                == target.loadUnaligned(fromByteOffset: best &- 1, as: UInt16.self)
            {
                let least = place &- candidate == known.distance ? min(max(0, known.length &- 1), longest) : 0
                let length = target.commonLength(with: other, from: least, atMost: longest)
                if length > best {
                    matches.append(OptimalParse.Match(length: length, distance: place &- candidate))
                    before = (length, place &- candidate)
                    if length == longest { return }
                    best = length
                }
            }
            guard next >= 0 else { return }
            candidate = next
            // What is not further back was written later, by a place that took the entry over.
            let further = Int(earlier[candidate & (Self.reach &- 1)])
            next = further < candidate ? further : -1
            left &-= 1
        }
    }
}
