/// Serial types: a record's header gives one for each value, with the storage class and the length.
///
/// Source: sqlite.org/fileformat2.html section 2.1.
package enum SerialType {
    package static let null: UInt64 = 0
    package static let real: UInt64 = 7
    package static let zero: UInt64 = 8
    package static let one: UInt64 = 9
    /// The first type of texts and blobs; 10 and 11 are SQLite's own.
    package static let firstOfVariableLength: UInt64 = 12

    /// Length of the value's bytes.
    ///
    /// - Returns: `nil` for 10 and 11, and for lengths above SQLite's own limit of 2^31 - 1.
    @inlinable
    package static func length(_ type: UInt64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1: 1
        case 2: 2
        case 3: 3
        case 4: 4
        case 5: 6
        case 6, 7: 8
        case 10, 11: nil
        default: (type - 12) / 2 <= UInt64(Int32.max) ? Int((type - 12) / 2) : nil
        }
    }

    /// The same, for NULL and numbers only.
    ///
    /// - Parameter type: 0 to 9.
    @inlinable
    package static func numberLength(_ type: UInt64) -> Int {
        Int(truncatingIfNeeded: (0x00_8864_3210 &>> (type &* 4)) & 0xf)
    }

    /// Whether values of the type are integers.
    @inlinable
    package static func isInteger(_ type: UInt64) -> Bool { (1...6).contains(type) || type == 8 || type == 9 }

    @inlinable
    package static func isText(_ type: UInt64) -> Bool { type >= 13 && type & 1 == 1 }

    @inlinable
    package static func text(length: Int) -> UInt64 { UInt64(length) * 2 + 13 }

    @inlinable
    package static func blob(length: Int) -> UInt64 { UInt64(length) * 2 + 12 }
}

/// How a store writes the integers 0 and 1, by the schema format in its header.
package enum IntegerForm: Hashable, Sendable {
    /// By their serial type, without a byte: schema format 4.
    case modern
    /// As other integers, with a byte: schema formats below 4.
    case legacy

    /// The narrowest type that holds a value.
    @inlinable
    package func serialType(of value: Int64) -> UInt64 {
        if value & ~1 == 0 && self == .modern { return value == 0 ? SerialType.zero : SerialType.one }
        // The bits beside its sign.
        let bits = 64 - (value < 0 ? ~value : value).leadingZeroBitCount
        return bits < 8 ? 1 : bits < 16 ? 2 : bits < 24 ? 3 : bits < 32 ? 4 : bits < 48 ? 5 : 6
    }
}

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
