import ShipCompression

/// A place in one area of a segment that is read.
struct AreaCursor {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var left: Int { bytes.count - offset }

    mutating func byte() throws(CompressionError) -> UInt8 {
        guard offset < bytes.count else { throw .damaged(.segment) }
        offset += 1
        return bytes[offset - 1]
    }

    /// Reads at most ten bytes; more than 64 bits are an error.
    mutating func varint() throws(CompressionError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw .damaged(.segment) }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    mutating func signed() throws(CompressionError) -> Int64 { Int64(zigzag: try varint()) }

    /// - Parameter limit: Largest count to accept.
    mutating func count(limit: Int) throws(CompressionError) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw .damaged(.segmentLimit) }
        return Int(value)
    }

    /// - Returns: Where the next `count` bytes are.
    mutating func take(_ count: Int) throws(CompressionError) -> Range<Int> {
        guard count >= 0, count <= left else { throw .damaged(.segment) }
        offset += count
        return offset - count..<offset
    }

    /// - Returns: Where the bytes up to the next NUL are; the cursor stands after it.
    mutating func takeToNul() throws(CompressionError) -> Range<Int> {
        let start = offset
        let end = bytes.withUnsafeBufferPointer { bytes in
            var index = start
            while index < bytes.count, bytes[index] != 0 { index += 1 }
            return index
        }
        guard end < bytes.count else { throw .damaged(.segment) }
        offset = end + 1
        return start..<end
    }

    mutating func varints(_ count: Int) throws(CompressionError) -> [UInt64] {
        guard count <= left else { throw .damaged(.segment) }
        var values: [UInt64] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try varint()) }
        return values
    }
}
