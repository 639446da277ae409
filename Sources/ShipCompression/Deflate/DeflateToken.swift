/// A literal, or a match: the codes for its length and its distance, and the bits that follow each.
struct DeflateToken: Hashable {
    /// From the lowest bit on: 9 of the symbol, 5 behind it, 5 of the distance's code, 13 behind it.
    private let bits: UInt32

    init(literal: UInt8) { bits = UInt32(literal) }

    init(symbol: Int, lengthBits: UInt64, distanceCode: Int, distanceBits: UInt64) {
        bits =
            UInt32(truncatingIfNeeded: symbol) | UInt32(truncatingIfNeeded: lengthBits) << 9
            | UInt32(truncatingIfNeeded: distanceCode) << 14 | UInt32(truncatingIfNeeded: distanceBits) << 19
    }

    /// - Parameters:
    ///   - length: 3-258.
    ///   - distance: 1-32,768.
    @inline(__always)
    init(length: Int, distance: Int) {
        let code = Int(DeflateFormat.lengthCodes[length &- DeflateFormat.shortestMatch])
        let lengthBits = length &- DeflateFormat.lengths[code].base
        let distanceCode = DeflateFormat.distanceCode(distance)
        let extra = DeflateFormat.distanceExtra[distanceCode]
        self.init(
            symbol: DeflateFormat.firstLength &+ code, lengthBits: UInt64(lengthBits),
            distanceCode: distanceCode, distanceBits: UInt64((distance &- 1) & (1 &<< extra &- 1)))
    }

    /// In the alphabet of literals and lengths.
    var symbol: Int { Int(bits & 0x1ff) }
    var isMatch: Bool { symbol > DeflateFormat.endOfBlock }
    var lengthBits: UInt64 { UInt64(bits >> 9 & 0x1f) }
    var distanceCode: Int { Int(bits >> 14 & 0x1f) }
    var distanceBits: UInt64 { UInt64(bits >> 19) }

    /// How many bits follow the two codes of a match.
    var extra: (length: Int, distance: Int) {
        (DeflateFormat.lengths[symbol - DeflateFormat.firstLength].extra, DeflateFormat.distanceExtra[distanceCode])
    }

    /// How far back a match begins, in bytes.
    var distance: Int {
        let extra = DeflateFormat.distanceExtra[distanceCode]
        // From the fifth code on, each two have one more bit behind them than the two before.
        return (extra == 0 ? distanceCode : (2 + distanceCode % 2) << extra) + Int(distanceBits) + 1
    }

    /// How many bytes the token stands for.
    var byteCount: Int {
        isMatch ? DeflateFormat.lengths[symbol - DeflateFormat.firstLength].base + Int(lengthBits) : 1
    }
}
