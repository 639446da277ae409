/// The matches that a deflate stream could take, window by window and byte by byte: for each length the nearest one.
///
/// By hash chains, as in zlib's own deflater, which takes the first match that is good enough; here all that may be of use are
/// noted.
struct DeflateMatches {
    /// How far a match reaches back.
    private static let reach = 32_768
    private static let hashBits: UInt32 = 15
    /// How many earlier places with the same hash are looked at.
    private static let depth = 256

    /// What stands before, as far as matches reach, and what is to be deflated.
    private let bytes: [UInt8]
    /// Where the next window begins.
    private var place: Int
    /// The last place of each hash, and of each place the one before it with the same hash; -1 for none.
    private var last = [Int32](repeating: -1, count: 1 << Int(hashBits))
    private var earlier = [Int32](repeating: -1, count: reach)

    /// A length, and a distance.
    struct Match {
        private let bits: UInt32

        @inline(__always)
        init(length: Int, distance: Int) {
            bits = UInt32(truncatingIfNeeded: length) &<< 16 | UInt32(truncatingIfNeeded: distance &- 1)
        }

        @inline(__always) var length: Int { Int(bits &>> 16) }
        @inline(__always) var distance: Int { Int(bits & 0xffff) &+ 1 }
    }

    /// Bytes that come one after the other, and the matches at each of them; none reaches beyond the last one.
    struct Window {
        let bytes: ArraySlice<UInt8>
        /// Behind which of `matches` those of each byte end.
        fileprivate(set) var ends: [Int32] = []
        /// Those of a byte from the shortest to the longest.
        fileprivate(set) var matches: [Match] = []
    }

    /// - Parameters:
    ///   - bytes: At most 2^31 - 32,769.
    ///   - preset: What stands before them.
    init(of bytes: [UInt8], after preset: [UInt8]) {
        let before = preset.suffix(Self.reach)
        self.bytes = before + bytes
        place = 0
        skip(before.count)
    }

    /// How many bytes are still to come.
    var left: Int { bytes.count - place }

    /// Leaves so many bytes without matches of their own. Others may reach into them.
    mutating func skip(_ count: Int) {
        let end = place + count
        bytes.withUnsafeBufferPointer { bytes in
            for place in place..<max(place, min(end, bytes.count - 2)) { note(place, Self.hash(bytes, place)) }
        }
        place = end
    }

    /// The window of so many bytes that comes next.
    mutating func next(_ count: Int) -> Window {
        let range = place..<(place + count)
        var window = Window(bytes: bytes[range])
        window.ends.reserveCapacity(count)
        bytes.withUnsafeBufferPointer { bytes in
            for place in range {
                if place &+ DeflateFormat.shortestMatch <= bytes.count {
                    let hash = Self.hash(bytes, place)
                    find(at: place, end: range.upperBound, bytes, first: last[hash], &window.matches)
                    note(place, hash)
                }
                window.ends.append(Int32(truncatingIfNeeded: window.matches.count))
            }
        }
        place = range.upperBound
        return window
    }

    /// Of three bytes.
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
    private func find(
        at place: Int, end: Int, _ bytes: UnsafeBufferPointer<UInt8>, first: Int32, _ matches: inout [Match]
    ) {
        let longest = min(DeflateFormat.longestMatch, end &- place)
        var best = DeflateFormat.shortestMatch &- 1
        guard longest > best else { return }
        var (candidate, left) = (Int(first), Self.depth)
        while candidate >= 0, place &- candidate <= Self.reach, left > 0 {
            if bytes[candidate &+ best] == bytes[place &+ best] {
                var length = 0
                while length < longest, bytes[candidate &+ length] == bytes[place &+ length] { length &+= 1 }
                if length > best {
                    matches.append(Match(length: length, distance: place &- candidate))
                    if length == longest { return }
                    best = length
                }
            }
            let next = Int(earlier[candidate & (Self.reach &- 1)])
            // Otherwise a later place has taken its room.
            guard next < candidate else { return }
            candidate = next
            left &-= 1
        }
    }
}
