/// Finds all matches that a deflate stream could take, byte by byte: for each length the nearest one.
///
/// It goes along hash chains, as zlib does. zlib takes the first match that is good enough; `OptimalParse` chooses among all.
///
/// Unsafe buffers, because this looks at each byte of a segment's text many times; every index is below `bytes.count`, as the loops show.
struct DeflateMatches: ~Copyable {
    private static let reach = DeflateFormat.window
    private static let hashBits: UInt32 = 15
    /// How many earlier places with the same hash it tries.
    private static let depth = 256

    /// The bytes before, as far as matches reach, and the bytes to deflate.
    private let bytes: [UInt8]
    /// Where the next window begins.
    private var place: Int
    /// The last place of each hash, and of each place the one before it with the same hash; -1 for none.
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
        last = .allocate(capacity: 1 << Int(Self.hashBits))
        last.initialize(repeating: -1, count: 1 << Int(Self.hashBits))
        earlier = .allocate(capacity: Self.reach)
        earlier.initialize(repeating: -1, count: Self.reach)
        skip(before.count)
    }

    deinit {
        last.deallocate()
        earlier.deallocate()
    }

    /// How many bytes are still to come.
    var left: Int { bytes.count - place }

    /// Finds no matches for the next `count` bytes. Later matches may reach into them.
    mutating func skip(_ count: Int) {
        let end = place + count
        before = (0, 0)
        bytes.withUnsafeBufferPointer { bytes in
            for place in place..<max(place, min(end, bytes.count - 2)) { note(place, Self.hash(bytes, place)) }
        }
        place = end
    }

    /// The matches of the next `count` bytes.
    mutating func next(_ count: Int) -> OptimalParse {
        let range = place..<(place + count)
        var parse = OptimalParse(bytes: bytes[range])
        parse.ends.reserveCapacity(count)
        bytes.withUnsafeBufferPointer { bytes in
            for place in range {
                if place &+ DeflateFormat.shortestMatch <= bytes.count {
                    let hash = Self.hash(bytes, place)
                    find(at: place, end: range.upperBound, bytes, first: last[hash], &parse.matches)
                    note(place, hash)
                }
                parse.ends.append(Int32(truncatingIfNeeded: parse.matches.count))
            }
        }
        place = range.upperBound
        return parse
    }

    /// The hash of three bytes.
    @inline(__always)
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int {
        let three = UInt32(bytes[place]) | UInt32(bytes[place &+ 1]) &<< 8 | UInt32(bytes[place &+ 2]) &<< 16
        return Int((three &* 0x9e37_79b1) &>> (32 &- hashBits))
    }

    @inline(__always)
    private mutating func note(_ place: Int, _ hash: Int) {
        earlier[place & (Self.reach &- 1)] = last[hash]
        last[hash] = Int32(truncatingIfNeeded: place)
    }

    @inline(__always)
    private mutating func find(
        at place: Int, end: Int, _ bytes: UnsafeBufferPointer<UInt8>, first: Int32,
        _ matches: inout [OptimalParse.Match]
    ) {
        let longest = min(DeflateFormat.longestMatch, end &- place)
        var best = DeflateFormat.shortestMatch &- 1
        let known = before
        before = (0, 0)
        guard longest > best, let start = bytes.baseAddress else { return }
        let target = UnsafeRawPointer(start + place)
        var (candidate, left) = (Int(first), Self.depth)
        while candidate >= 0, place &- candidate <= Self.reach, left > 0 {
            let other = UnsafeRawPointer(start + candidate)
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
            let next = Int(earlier[candidate & (Self.reach &- 1)])
            // Otherwise a later place has overwritten the entry.
            guard next < candidate else { return }
            candidate = next
            left &-= 1
        }
    }
}
