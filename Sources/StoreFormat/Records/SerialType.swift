/// What a record's header says of one value: its storage class and its length.
///
/// Source: sqlite.org/fileformat2.html section 2.1.
package enum SerialType {
    package static let null: UInt64 = 0
    package static let real: UInt64 = 7
    package static let zero: UInt64 = 8
    package static let one: UInt64 = 9
    /// The first that stands for a text or a blob; 10 and 11 are SQLite's own.
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

    /// The same, for NULL and numbers alone.
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
    package static func isBlob(_ type: UInt64) -> Bool { type >= 12 && type & 1 == 0 }

    @inlinable
    package static func text(length: Int) -> UInt64 { UInt64(length) * 2 + 13 }

    @inlinable
    package static func blob(length: Int) -> UInt64 { UInt64(length) * 2 + 12 }
}

/// How a store writes the integers 0 and 1, by the schema format in its header.
package enum IntegerForm: Hashable, Sendable {
    /// Without a byte of their own: schema format 4.
    case modern
    /// As all others: schema formats below.
    case legacy

    /// The narrowest type that holds a value.
    @inlinable
    package func serialType(of value: Int64) -> UInt64 {
        if value & ~1 == 0 && self == .modern { return value == 0 ? SerialType.zero : SerialType.one }
        // The bits that tell it from its sign.
        let bits = 64 - (value < 0 ? ~value : value).leadingZeroBitCount
        return bits < 8 ? 1 : bits < 16 ? 2 : bits < 24 ? 3 : bits < 32 ? 4 : bits < 48 ? 5 : 6
    }
}
