import StoreFormat

/// The serial types of SQLite's record format, in canonical encoding.
///
/// Source: sqlite.org/fileformat2.html section 2.1.
enum SerialType {
    /// - Returns: Of the narrowest encoding.
    @inline(__always)
    static func of(_ value: Int64, _ form: IntegerForm) -> UInt8 {
        if form == .modern, value == 0 || value == 1 { return UInt8(8 &+ value) }
        let magnitude = UInt64(bitPattern: value < 0 ? ~value : value)
        if magnitude < 0x80 { return 1 }
        if magnitude < 0x8000 { return 2 }
        if magnitude < 0x80_0000 { return 3 }
        if magnitude < 0x8000_0000 { return 4 }
        if magnitude < 0x8000_0000_0000 { return 5 }
        return 6
    }

    /// - Parameter type: 0-9.
    /// - Returns: Bytes in the body.
    @inline(__always)
    static func size(_ type: UInt8) -> Int {
        Int(truncatingIfNeeded: (0x00_8864_3210 >> (UInt64(type) &* 4)) & 0xf)
    }

    /// - Parameter length: Of a text or blob, at most `SegmentLimits.groupSize`.
    @inline(__always)
    static func ofString(length: Int, isText: Bool) -> Int { length &* 2 &+ (isText ? 13 : 12) }

    /// - Parameter value: Below 2^35.
    @inline(__always)
    static func varintSize(_ value: Int) -> Int {
        value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
    }

    /// - Parameter types: Bytes of all serial types.
    /// - Returns: Bytes of a header, the varint of its size included.
    @inline(__always)
    static func headerSize(types: Int) -> Int {
        var size = 1
        while varintSize(types &+ size) > size { size &+= 1 }
        return types &+ size
    }
}
