/// About what deflate would make of bytes, in a small part of its time: matches are looked for in one place each, and codes are
/// taken to be as long as their frequency says, without being made.
///
/// Source: RFC 1951, for what a match can be and which bits follow its codes. Plain buffers, as in `MatchSearch`.
struct DeflateEstimate: ~Copyable {
    private static let hashBits = 12
    private static let keySize = 4
    private static let longestMatch = 258
    private static let window: Int32 = 32_768
    /// 256 literals, then codes for the lengths and the distances of matches.
    private static let codes = 256 + 32 + 32
    /// Of so many places without a match one is looked at less.
    private static let patience = 64

    /// The last place for each hash, counted over all calls; those before `base` are of earlier ones.
    private let heads: UnsafeMutablePointer<Int32>
    /// How often each code is used.
    private let counts: UnsafeMutablePointer<Int32>
    private var base: Int32 = 1
    /// What is said of one code that is used, in bits.
    var codeCost = 9

    init() {
        heads = .allocate(capacity: 1 << Self.hashBits)
        heads.initialize(repeating: 0, count: 1 << Self.hashBits)
        counts = .allocate(capacity: Self.codes)
        counts.initialize(repeating: 0, count: Self.codes)
    }

    deinit {
        heads.deallocate()
        counts.deallocate()
    }

    /// - Parameter bytes: At most `SegmentLimits.inflatedSize` of them.
    /// - Returns: Bytes, never more than there are.
    mutating func size(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = bytes.baseAddress, bytes.count > Self.keySize else { return bytes.count }
        if base > 1 << 29 {
            heads.update(repeating: 0, count: 1 << Self.hashBits)
            base = 1
        }
        counts.update(repeating: 0, count: Self.codes)
        let extraBits = count(UnsafeRawPointer(start), bytes.count)
        base &+= Int32(truncatingIfNeeded: bytes.count)
        return min(bytes.count, (extraBits &+ codeBits() &+ 7) / 8)
    }

    /// Counts literals and matches.
    ///
    /// - Returns: The bits that follow the codes.
    private func count(_ bytes: UnsafeRawPointer, _ size: Int) -> Int {
        var extraBits = 0
        var (place, misses) = (0, 0)
        let lastKey = size &- Self.keySize
        while place <= lastKey {
            let key = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            let slot = Int(truncatingIfNeeded: (key &* 0x9e37_79b1) &>> UInt32(32 - Self.hashBits))
            let here = base &+ Int32(truncatingIfNeeded: place)
            let earlier = heads[slot]
            heads[slot] = here
            if earlier >= base, here &- earlier <= Self.window {
                let from = Int(earlier &- base)
                if bytes.loadUnaligned(fromByteOffset: from, as: UInt32.self) == key {
                    let length = Self.length(bytes, from, place, min(size, place &+ Self.longestMatch))
                    extraBits &+= Self.note(length &- 3, in: counts + 256)
                    extraBits &+= Self.note(place &- from, in: counts + 288)
                    place &+= length
                    misses = 0
                    continue
                }
            }
            misses &+= 1
            counts[Int(UInt8(truncatingIfNeeded: UInt32(littleEndian: key)))] &+= 1
            place &+= 1
            // In noise not each place is looked at.
            guard misses >= Self.patience else { continue }
            let next = min(lastKey &+ 1, place &+ misses / Self.patience)
            while place < next {
                counts[Int(bytes.load(fromByteOffset: place, as: UInt8.self))] &+= 1
                place &+= 1
            }
        }
        while place < size {
            counts[Int(bytes.load(fromByteOffset: place, as: UInt8.self))] &+= 1
            place &+= 1
        }
        return extraBits
    }

    @inline(__always)
    private static func length(_ bytes: UnsafeRawPointer, _ from: Int, _ place: Int, _ end: Int) -> Int {
        var length = keySize
        while place &+ length &+ 8 <= end {
            let difference =
                bytes.loadUnaligned(fromByteOffset: from &+ length, as: UInt64.self)
                ^ bytes.loadUnaligned(fromByteOffset: place &+ length, as: UInt64.self)
            if difference != 0 { return length &+ difference.littleEndian.trailingZeroBitCount / 8 }
            length &+= 8
        }
        while place &+ length < end,
            bytes.load(fromByteOffset: from &+ length, as: UInt8.self)
                == bytes.load(fromByteOffset: place &+ length, as: UInt8.self)
        {
            length &+= 1
        }
        return length
    }

    /// Codes stand for ranges that are a quarter (lengths) or a half (distances) of a power of two wide; here all are for halves.
    ///
    /// - Returns: The bits that say which of its range it is.
    @inline(__always)
    private static func note(_ value: Int, in counts: UnsafeMutablePointer<Int32>) -> Int {
        let bits = Int.bitWidth &- value.leadingZeroBitCount
        guard bits >= 2 else {
            counts[value] &+= 1
            return 0
        }
        counts[min(31, bits &* 2 &- 2 &+ (value &>> (bits &- 2)) & 1)] &+= 1
        return bits &- 2
    }

    /// What all codes take, and saying which there are.
    private func codeBits() -> Int {
        // The codes of distances are a set of their own.
        let (first, second) = (bits(of: 0..<288), bits(of: 288..<Self.codes))
        return first &+ second
    }

    private func bits(of codes: Range<Int>) -> Int {
        var (symbols, used, sum) = (0, 0, 0)
        for code in codes {
            let count = Int(counts[code])
            if count == 0 { continue }
            used &+= 1
            symbols &+= count
            sum &+= Entropy.weight(count)
        }
        return (Entropy.weight(symbols) &- sum) / Entropy.unit &+ used &* codeCost
    }
}
