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

    /// The same, for NULL and numbers only: types 0 to 9.
    @inlinable
    package static func numberLength(_ type: UInt64) -> Int {
        Int(truncatingIfNeeded: (0x00_8864_3210 &>> (type &* 4)) & 0xf)
    }

    @inlinable
    package static func isInteger(_ type: UInt64) -> Bool { (1...6).contains(type) || type == 8 || type == 9 }

    @inlinable
    package static func isText(_ type: UInt64) -> Bool { type >= 13 && type & 1 == 1 }

    @inlinable
    package static func text(length: Int) -> UInt64 { UInt64(length) * 2 + 13 }

    @inlinable
    package static func blob(length: Int) -> UInt64 { UInt64(length) * 2 + 12 }
}
