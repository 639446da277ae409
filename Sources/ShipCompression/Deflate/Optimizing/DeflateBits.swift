/// A stream of bits, of which a byte takes the first in its lowest.
///
/// Source: RFC 1951 section 3.1.1.
struct DeflateBits {
    /// The bytes that are whole.
    private(set) var bytes: [UInt8] = []
    /// Bits that are no whole byte yet, the first one lowest.
    private var held: UInt64 = 0
    private var heldCount = 0

    /// - Parameter capacity: Bytes, for which there is room at once.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// - Parameter count: At most 16.
    @inline(__always)
    mutating func write(_ value: UInt64, _ count: Int) {
        held |= value &<< UInt64(heldCount)
        heldCount &+= count
        while heldCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: held))
            held &>>= 8
            heldCount &-= 8
        }
    }

    /// Writes zeros up to the next byte.
    mutating func fillByte() {
        if heldCount > 0 { write(0, 8 - heldCount) }
    }

    /// Writes whole bytes, after those to the next byte.
    mutating func write(_ whole: some Sequence<UInt8>) {
        fillByte()
        bytes += whole
    }
}
