// How integers are laid out in bytes, where that is not one varint after the other.

/// Byte-stream split: numbers of the same width, all first bytes first, then all second bytes, and so on.
///
/// Source: `Protocol/COLUMNS.md` 2, "Integers(n)", where they are planes.
extension [UInt64] {
    /// - Parameter width: Bytes of each number.
    func splitIntoByteStreams(width: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count * width) { bytes, size in
            withUnsafeBufferPointer { values in
                for stream in 0..<width {
                    let shift = UInt64(8 * (width - 1 - stream))
                    let start = stream * values.count
                    for index in 0..<values.count {
                        bytes[start &+ index] = UInt8(truncatingIfNeeded: values[index] &>> shift)
                    }
                }
            }
            size = count * width
        }
    }

    /// - Parameter bytes: `count` times `width` of them.
    init(byteStreams bytes: ArraySlice<UInt8>, width: Int, count: Int) {
        self.init(repeating: 0, count: count)
        bytes.withUnsafeBufferPointer { bytes in
            withUnsafeMutableBufferPointer { values in
                for stream in 0..<width {
                    let start = stream * count
                    for index in 0..<count { values[index] = values[index] &<< 8 | UInt64(bytes[start &+ index]) }
                }
            }
        }
    }
}

extension UInt64 {
    /// How many bytes the number takes, at least 1.
    var byteWidth: Int { Swift.max(1, (71 - leadingZeroBitCount) / 8) }
}

/// Small numbers, several in a byte, the first in the lowest bits.
extension [Int64] {
    /// - Parameter bits: 1, 2 or 4.
    static func packedSize(count: Int, bits: Int) -> Int { (count * bits + 7) / 8 }

    /// - Parameter base: The least number, which is subtracted from each.
    func packed(base: Int64, bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.packedSize(count: count, bits: bits))
        let perByte = 8 / bits
        for (index, value) in enumerated() {
            bytes[index / perByte] |= UInt8(truncatingIfNeeded: value &- base) << (index % perByte * bits)
        }
        return bytes
    }

    init(packed bytes: ArraySlice<UInt8>, base: Int64, bits: Int, count: Int) {
        let perByte = 8 / bits
        let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        self = (0..<count).map { index in
            base &+ Int64(bytes[bytes.startIndex + index / perByte] >> (index % perByte * bits) & mask)
        }
    }
}
