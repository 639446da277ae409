import ShipCompression
package import StoreFormat

/// The areas of a segment while it is written.
///
/// A decoder knows from what it has read where an encoding ends, so that the areas need no directory.
struct SegmentAreas {
    /// Tags, counts, parameters, and the numbers of small columns.
    var control: [UInt8] = []
    /// The numbers of larger columns.
    var numbers: [UInt8] = []
    /// Texts and blobs.
    var text: [UInt8] = []
    /// What the streams that stand in them by their content take of the segment.
    var streams = StreamRoom.none

    mutating func tag(_ value: UInt8) { control.append(value) }
    mutating func unsigned(_ value: UInt64) { control.appendVarint(value) }
    mutating func count(_ value: Int) { control.appendVarint(UInt64(value)) }
    mutating func signed(_ value: Int64) { control.appendVarint(value.zigzag) }

    mutating func append(_ other: SegmentAreas) {
        control += other.control
        numbers += other.numbers
        text += other.text
        streams += other.streams
    }

    /// - Parameter count: Values in the column that the bytes belong to.
    mutating func appendNumbers(_ bytes: [UInt8], of count: Int) {
        if count < SegmentLimits.smallColumn { control += bytes } else { numbers += bytes }
    }
}

/// Reads a segment: its areas, and how much a decoder may still make of them. It trusts no bytes.
package struct SegmentReader {
    var control: AreaCursor
    var numbers: AreaCursor
    var text: AreaCursor
    /// `SegmentLimits.rows`, counted down.
    var rowsLeft = SegmentLimits.rows
    /// `SegmentLimits.contentSize`, counted down.
    var contentLeft = SegmentLimits.contentSize
    /// The encoding in which the records of the last group were made; `nil` if the segment has them row by row: then they may be any bytes.
    package internal(set) var madeForm: IntegerForm?
    /// `SegmentLimits.values`, counted down.
    private var values = SegmentLimits.values
    /// `SegmentLimits.builtSize`, counted down.
    private var built = SegmentLimits.builtSize
    /// `SegmentLimits.deflatedStrings`, counted down.
    private var deflated = SegmentLimits.deflatedStrings
    /// That of the part.
    let work: DecodingWork

    init(control: [UInt8], numbers: [UInt8], text: [UInt8], _ work: DecodingWork = DecodingWork()) {
        self.work = work
        self.control = AreaCursor(control)
        self.numbers = AreaCursor(numbers)
        self.text = AreaCursor(text)
    }

    /// Whether everything has been read.
    package var isAtEnd: Bool { control.left == 0 && numbers.left == 0 && text.left == 0 }

    /// Decoders call it before they decode `count` values.
    mutating func spend(values count: Int) throws(CompressionError) {
        guard count <= values else { throw .damaged(.segmentLimit) }
        values -= count
        try work.spend(DecodingWork.encoding + count)
    }

    /// Decoders call it before they put together `count` bytes of strings.
    mutating func spend(bytes count: Int) throws(CompressionError) {
        guard count <= built else { throw .damaged(.segmentLimit) }
        built -= count
        try work.spend(count)
    }

    /// Decoders call it before they deflate a string of `count` bytes.
    mutating func spend(deflated count: Int) throws(CompressionError) {
        guard count <= SegmentLimits.deflatedString, count <= deflated else { throw .damaged(.segmentLimit) }
        deflated -= count
        try work.spend(DecodingWork.deflatedStream + count * DecodingWork.deflatedByte)
    }

    /// The next bytes of the area that has the numbers of `count` values.
    mutating func takeNumbers(_ size: Int, of count: Int) throws(CompressionError) -> ArraySlice<UInt8> {
        if count < SegmentLimits.smallColumn {
            let range = try control.take(size)
            return control.bytes[range]
        }
        let range = try numbers.take(size)
        return numbers.bytes[range]
    }

    mutating func varints(_ count: Int) throws(CompressionError) -> [UInt64] {
        count < SegmentLimits.smallColumn ? try control.varints(count) : try numbers.varints(count)
    }
}

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

    /// Reads `count` varints.
    mutating func varints(_ count: Int) throws(CompressionError) -> [UInt64] {
        guard count <= left else { throw .damaged(.segment) }
        var values: [UInt64] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try varint()) }
        return values
    }
}

extension [UInt8] {
    /// Seven bits a byte, lowest first, the top bit set in all but the last.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension Int64 {
    /// 0, -1, 1, -2 as 0, 1, 2, 3.
    var zigzag: UInt64 { UInt64(bitPattern: (self << 1) ^ (self >> 63)) }

    init(zigzag value: UInt64) {
        self = Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
    }
}
