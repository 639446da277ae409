/// Estimates how many bytes deflate would make of others, in a small part of its time. It looks for each match in one place, and derives
/// the lengths of codes from their frequencies in each block, without making the codes.
///
/// Unsafe buffers, because it runs many times for each segment. Source: RFC 1951, for what a match can be and which bits follow its codes.
package struct DeflateEstimate: ~Copyable {
    private static let hashBits = 12
    private static let keySize = 4
    private static let window = Int32(DeflateFormat.window)
    /// 256 literals, then codes for the lengths and the distances of matches.
    private static let codes = 256 + 32 + 32
    /// After each this many places without a match it skips one place more.
    private static let missesPerSkip = 64

    /// The last place for each hash, counted over all calls; places before `base` are of earlier calls.
    private let heads: UnsafeMutablePointer<Int32>
    /// How often each code is used by the bytes after the block.
    private let counts: UnsafeMutablePointer<Int32>
    /// How often it is in the block so far.
    private let block: UnsafeMutablePointer<Int32>
    private var base: Int32 = 1
    /// The part of a block's head for each code that the block uses, in bits.
    package var codeCost = Self.usualCodeCost
    private static let usualCodeCost = 9
    /// A block ends behind a multiple of about this many bytes.
    private static let usualStep = 4096
    /// The same in a sample, of which the head of a block counts in part: as many as it has values, and so a plane of them.
    private let leastStep: Int

    package init(leastStep: Int = Self.usualStep) {
        self.leastStep = leastStep
        heads = .allocate(capacity: 1 << Self.hashBits)
        heads.initialize(repeating: 0, count: 1 << Self.hashBits)
        counts = .allocate(capacity: Self.codes)
        counts.initialize(repeating: 0, count: Self.codes)
        block = .allocate(capacity: Self.codes)
        block.initialize(repeating: 0, count: Self.codes)
    }

    deinit {
        heads.deallocate()
        counts.deallocate()
        block.deallocate()
    }

    /// - Parameter bytes: At most 2^30.
    /// - Returns: Never more than the input has.
    package mutating func size(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let start = bytes.baseAddress, bytes.count > Self.keySize else { return bytes.count }
        if base > 1 << 29 {
            heads.update(repeating: 0, count: 1 << Self.hashBits)
            base = 1
        }
        counts.update(repeating: 0, count: Self.codes)
        block.update(repeating: 0, count: Self.codes)
        let bits = count(UnsafeRawPointer(start), bytes.count)
        base &+= Int32(truncatingIfNeeded: bytes.count)
        return min(bytes.count, (bits &+ 7) / 8)
    }

    /// - Returns: Bits of all blocks.
    private func count(_ bytes: UnsafeRawPointer, _ size: Int) -> Int {
        var extraBits = 0
        var (ended, last) = (0, 0)
        let step = max(leastStep, Self.usualStep &* codeCost / Self.usualCodeCost)
        var end = step
        var (place, misses) = (0, 0)
        let lastKey = size &- Self.keySize
        while place <= lastKey {
            if place >= end {
                endStep(&ended, &last)
                end = place &+ step
            }
            let key = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            let slot = Int(truncatingIfNeeded: (key &* 0x9e37_79b1) &>> UInt32(32 - Self.hashBits))
            let here = base &+ Int32(truncatingIfNeeded: place)
            let earlier = heads[slot]
            heads[slot] = here
            if earlier >= base, here &- earlier <= Self.window {
                let from = Int(earlier &- base)
                if bytes.loadUnaligned(fromByteOffset: from, as: UInt32.self) == key {
                    let length = (bytes + place).commonLength(
                        with: bytes + from, from: Self.keySize, atMost: min(size &- place, DeflateFormat.longestMatch))
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
            // In noise it does not look at each place.
            guard misses >= Self.missesPerSkip else { continue }
            let next = min(lastKey &+ 1, place &+ misses / Self.missesPerSkip)
            while place < next {
                counts[Int(bytes.load(fromByteOffset: place, as: UInt8.self))] &+= 1
                place &+= 1
            }
        }
        while place < size {
            counts[Int(bytes.load(fromByteOffset: place, as: UInt8.self))] &+= 1
            place &+= 1
        }
        endStep(&ended, &last)
        return extraBits &+ ended &+ last
    }

    /// Adds the bytes after the block to it, or ends it and begins the next one with them, whichever takes fewer bits.
    ///
    /// - Parameters:
    ///   - ended: Bits of all blocks that have ended.
    ///   - last: Bits of the block; 0 if there is none.
    private func endStep(_ ended: inout Int, _ last: inout Int) {
        let own = bits(of: counts)
        if last > 0 {
            for code in 0..<Self.codes { block[code] &+= counts[code] }
            let together = bits(of: block)
            if together <= last &+ own {
                last = together
                counts.update(repeating: 0, count: Self.codes)
                return
            }
            ended &+= last
        }
        last = own
        block.update(from: counts, count: Self.codes)
        counts.update(repeating: 0, count: Self.codes)
    }

    /// Deflate's codes stand for ranges as wide as a quarter (lengths) or a half (distances) of a power of two; here all are halves.
    ///
    /// - Returns: How many bits follow the code, to tell the value among those of its range.
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

    /// The size of all codes and the head.
    private func bits(of counts: UnsafeMutablePointer<Int32>) -> Int {
        // Distances have an alphabet of their own.
        bits(of: counts, 0..<288) &+ bits(of: counts, 288..<Self.codes)
    }

    private func bits(of counts: UnsafeMutablePointer<Int32>, _ codes: Range<Int>) -> Int {
        var (symbols, used, sum) = (0, 0, 0)
        for code in codes {
            let count = Int(counts[code])
            if count == 0 { continue }
            used &+= 1
            symbols &+= count
            sum &+= Self.weight(count)
        }
        return (Self.weight(symbols) &- sum) / Self.bitUnit &+ used &* codeCost
    }
}

/// The entropy of symbols, in integers: all estimates of one machine and another are the same.
extension DeflateEstimate {
    /// Weights are in this part of a bit.
    static let bitUnit = 256

    /// `count` times its logarithm to the base 2, in parts of a bit; 0 for 0.
    ///
    /// A message of `n` symbols has the entropy `weight(n)`, less the weight of the count of each symbol.
    @inline(__always)
    static func weight(_ count: Int) -> Int {
        if count < tableSize { return Int(table[count]) }
        // Between two entries of the table the curve is nearly straight.
        let shift = Int.bitWidth &- count.leadingZeroBitCount &- tableSize.trailingZeroBitCount
        let (high, low) = (count &>> shift, count & (1 &<< shift &- 1))
        let (weight, next) = (Int(table[high]), Int(table[high &+ 1]))
        return weight &<< shift &+ (next &- weight) &* low &+ count &* shift &* bitUnit
    }

    private static let tableSize = 4096
    private static let table = (0...tableSize).map { count in
        count < 2 ? 0 : Int32((Double(count) * logarithm(Double(count)) * Double(bitUnit)).rounded())
    }

    /// The logarithm to the base 2, by the series of artanh. The standard library has no logarithm, and those of platforms may differ.
    ///
    /// - Parameter number: Finite, above 0.
    private static func logarithm(_ number: Double) -> Double {
        let ratio = (number.significand - 1) / (number.significand + 1)
        let sum = (0..<16).reduce(0) { $0 + power(ratio, 2 * $1 + 1) / Double(2 * $1 + 1) }
        return Double(number.exponent) + sum * 2 * 1.442_695_040_888_963_4
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }
}
