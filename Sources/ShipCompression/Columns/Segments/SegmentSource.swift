/// The areas of a segment while it is read, and what may still be made of them.
struct SegmentSource {
    var control: AreaCursor
    var numbers: AreaCursor
    var text: AreaCursor
    /// `SegmentLimits.values`, counted down.
    private var values = SegmentLimits.values
    /// `SegmentLimits.builtSize`, counted down.
    private var built = SegmentLimits.builtSize
    /// `SegmentLimits.deflatedStrings`, counted down.
    private var deflated = SegmentLimits.deflatedStrings
    /// `SegmentLimits.deflateWork`, counted down.
    private var deflateWork = SegmentLimits.deflateWork

    init(control: [UInt8], numbers: [UInt8], text: [UInt8]) {
        self.control = AreaCursor(control)
        self.numbers = AreaCursor(numbers)
        self.text = AreaCursor(text)
    }

    var isAtEnd: Bool { control.left == 0 && numbers.left == 0 && text.left == 0 }

    /// Before that many values are worked out.
    mutating func spend(values count: Int) throws(CompressionError) {
        guard count <= values else { throw .damaged(.segmentLimit) }
        values -= count
    }

    /// Before that many bytes of strings are put together.
    mutating func spend(bytes count: Int) throws(CompressionError) {
        guard count <= built else { throw .damaged(.segmentLimit) }
        built -= count
    }

    /// Before a string of that many bytes is deflated.
    ///
    /// - Parameter depth: Places that are tried for each byte, at most.
    mutating func spend(deflated count: Int, depth: Int) throws(CompressionError) {
        guard count <= SegmentLimits.deflatedString, count <= deflated else { throw .damaged(.segmentLimit) }
        guard count * depth <= deflateWork else { throw .damaged(.segmentLimit) }
        deflated -= count
        deflateWork -= count * depth
    }

    /// The next bytes of the area where the numbers of `count` values are.
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
