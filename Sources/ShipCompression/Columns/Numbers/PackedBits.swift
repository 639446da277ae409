/// Small numbers, several a byte, the first in the lowest bits.
enum PackedBits {
    static func size(count: Int, bits: Int) -> Int { (count * bits + 7) / 8 }

    static func bytes(of values: [Int64], base: Int64, bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size(count: values.count, bits: bits))
        let perByte = 8 / bits
        for (index, value) in values.enumerated() {
            bytes[index / perByte] |= UInt8(truncatingIfNeeded: value &- base) << (index % perByte * bits)
        }
        return bytes
    }

    static func values(of bytes: ArraySlice<UInt8>, base: Int64, bits: Int, count: Int) -> [Int64] {
        let perByte = 8 / bits
        let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        return (0..<count).map { index in
            base &+ Int64(bytes[bytes.startIndex + index / perByte] >> (index % perByte * bits) & mask)
        }
    }
}
