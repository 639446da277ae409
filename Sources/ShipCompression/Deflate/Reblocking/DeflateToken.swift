/// A literal, or a match: the codes for its length and its distance, and the bits that follow each.
struct DeflateToken {
    /// From the lowest bit on: 9 of the symbol, 5 behind it, 5 of the distance's code, 13 behind it.
    private let bits: UInt32

    init(literal: UInt8) { bits = UInt32(literal) }

    init(symbol: Int, lengthBits: UInt64, distanceCode: Int, distanceBits: UInt64) {
        bits =
            UInt32(truncatingIfNeeded: symbol) | UInt32(truncatingIfNeeded: lengthBits) << 9
            | UInt32(truncatingIfNeeded: distanceCode) << 14 | UInt32(truncatingIfNeeded: distanceBits) << 19
    }

    /// Of the alphabet of literals and lengths.
    var symbol: Int { Int(bits & 0x1ff) }
    var isMatch: Bool { symbol > DeflateFormat.endOfBlock }
    var lengthBits: UInt64 { UInt64(bits >> 9 & 0x1f) }
    var distanceCode: Int { Int(bits >> 14 & 0x1f) }
    var distanceBits: UInt64 { UInt64(bits >> 19) }

    /// Of a match, how many bits follow its two codes.
    var extra: (length: Int, distance: Int) {
        (DeflateFormat.lengths[symbol - DeflateFormat.firstLength].extra, DeflateFormat.distanceExtra[distanceCode])
    }

    /// How many bytes it stands for.
    var byteCount: Int {
        isMatch ? DeflateFormat.lengths[symbol - DeflateFormat.firstLength].base + Int(lengthBits) : 1
    }
}
