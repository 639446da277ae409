/// SQLite's variable-length integers: 1 to 9 bytes, big-endian, 7 bits a byte, all 8 of the ninth.
///
/// Source: sqlite.org/fileformat2.html section 1.6, "varint".
package enum Varint {
    /// In bytes.
    package static let longest = 9

    /// Reads one, and moves `position` behind it.
    ///
    /// - Returns: `nil` if the bytes end before it does.
    @inlinable
    package static func read(_ bytes: Span<UInt8>, at position: inout Int) -> UInt64? {
        guard position >= 0, position < bytes.count else { return nil }
        let first = bytes[unchecked: position]
        if first < 0x80 {
            position += 1
            return UInt64(first)
        }
        var value: UInt64 = 0
        for index in 0..<8 {
            guard position + index < bytes.count else { return nil }
            let byte = bytes[unchecked: position + index]
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 {
                position += index + 1
                return value
            }
        }
        guard position + 8 < bytes.count else { return nil }
        value = value << 8 | UInt64(bytes[unchecked: position + 8])
        position += 9
        return value
    }

    /// The fewest bytes that hold a value.
    @inlinable
    package static func length(of value: UInt64) -> Int {
        if value < 0x80 { return 1 }
        if value >= 1 << 56 { return 9 }
        return (64 - value.leadingZeroBitCount + 6) / 7
    }

    @inlinable
    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        if value < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value))
            return
        }
        let length = length(of: value)
        if length == 9 {
            for shift in stride(from: 57, through: 8, by: -7) {
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) | 0x80)
            }
            bytes.append(UInt8(truncatingIfNeeded: value))
            return
        }
        for index in stride(from: length - 1, through: 1, by: -1) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(7 * index)) & 0x7F | 0x80)
        }
        bytes.append(UInt8(truncatingIfNeeded: value) & 0x7F)
    }
}
