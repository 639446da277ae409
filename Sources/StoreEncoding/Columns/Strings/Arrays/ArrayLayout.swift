import ShipCompression

/// How numbers stand in the elements of arrays: fields of one width, back to back.
///
/// Source: `Protocol/COLUMNS.md` 2, "Arrays".
struct ArrayLayout: Hashable {
    static let realWidth = 8
    private static let widths = [2, 4, realWidth]
    private static let bigEndianBit: UInt8 = 0x80
    static let mostFields = 16

    /// Bytes of a number.
    let width: Int
    /// Numbers of an element.
    let fields: Int
    let isBigEndian: Bool

    var elementSize: Int { width * fields }

    func write(into areas: inout SegmentAreas) {
        areas.tag(UInt8(width) | (isBigEndian ? Self.bigEndianBit : 0))
        areas.tag(UInt8(fields))
    }

    init(width: Int, fields: Int, isBigEndian: Bool) {
        (self.width, self.fields, self.isBigEndian) = (width, fields, isBigEndian)
    }

    init(from control: inout AreaCursor) throws(CompressionError) {
        let first = try control.byte()
        let fields = Int(try control.byte())
        self.init(width: Int(first & ~Self.bigEndianBit), fields: fields, isBigEndian: first & Self.bigEndianBit != 0)
        guard Self.widths.contains(width), fields >= 1, fields <= Self.mostFields else { throw .damaged(.segment) }
    }

    /// The numbers of one field, as they stand in the elements.
    func patterns(_ field: Int, of elements: [UInt8]) -> [UInt64] {
        let shifts = (0..<width).map { UInt64(8 * (isBigEndian ? width - 1 - $0 : $0)) }
        return elements.withUnsafeBufferPointer { bytes in
            stride(from: field * width, to: bytes.count, by: elementSize).map { start in
                var pattern: UInt64 = 0
                for place in 0..<width { pattern |= UInt64(bytes[start &+ place]) &<< shifts[place] }
                return pattern
            }
        }
    }

    /// The same with their signs.
    func integers(_ field: Int, of elements: [UInt8]) -> [Int64] {
        let unused = Int64(64 - 8 * width)
        return patterns(field, of: elements).map { Int64(bitPattern: $0 << UInt64(unused)) >> unused }
    }

    /// Whether a number has no more bytes than it may have.
    func holds(_ number: Int64) -> Bool {
        let unused = Int64(64 - 8 * width)
        return (number << unused) >> unused == number
    }

    /// - Parameter patterns: A number for each of the elements.
    func put(_ patterns: some Sequence<UInt64>, in field: Int, of elements: inout [UInt8]) {
        for (index, pattern) in patterns.enumerated() {
            let start = index * elementSize + field * width
            for place in 0..<width {
                let shift = UInt64(8 * (isBigEndian ? width - 1 - place : place))
                elements[start + place] = UInt8(truncatingIfNeeded: pattern >> shift)
            }
        }
    }
}
