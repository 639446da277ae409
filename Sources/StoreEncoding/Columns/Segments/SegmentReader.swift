package import ShipCompression
package import StoreFormat

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

/// The counterpart of `SegmentWriter`: reads in the same order.
///
/// Source: `Protocol/COLUMNS.md` 2.
extension SegmentReader {
    /// - Parameter dictionary: Reads runs of pages that earlier segments have filled.
    /// - Throws: `.damaged`, and what `dictionary` throws; nothing is inflated beyond `SegmentLimits`.
    package init(
        decoding segment: [UInt8], _ work: DecodingWork = DecodingWork(),
        dictionary: ([PageRun]) throws -> [UInt8] = { _ in throw CompressionError.damaged(.segment) }
    ) throws {
        guard segment.count <= SegmentLimits.encodedSize else { throw CompressionError.damaged(.segmentLimit) }
        var head = AreaCursor(segment)
        let form = SegmentForm(rawValue: try head.byte())
        guard SegmentForm.all.contains(form) else { throw CompressionError.damaged(.segment) }
        var content: AreaCursor
        if form.contains(.deflated) {
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            try work.spend(size)
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], size: size))
        } else {
            try work.spend(segment.count - 1)
            content = AreaCursor(Array(segment.dropFirst()))
        }
        var history = MatchDictionary.builtInBytes
        if form.contains(.runs) { history += try dictionary(try PageRun.read(from: &content)) }
        let controlSize = try content.count(limit: SegmentLimits.inflatedSize)
        let numberSize = try content.count(limit: SegmentLimits.inflatedSize)
        let textSize = try content.count(limit: SegmentLimits.textSize)
        let matchCount = try content.count(limit: SegmentLimits.textSize / LongMatches.shortest)
        let control = content.bytes[try content.take(controlSize)]
        let runs = try content.varints(matchCount)
        let lengths = try content.varints(matchCount)
        let distances = try content.varints(matchCount)
        let numbers = content.bytes[try content.take(numberSize)]
        try work.spend(textSize)
        let literals =
            form.contains(.words)
            ? try WordCode(from: &content, work).literals(from: &content, limit: textSize)[...]
            : content.bytes[content.offset...]
        let text = try LongMatches.text(
            literals, runs: runs, lengths: lengths,
            distances: (form.contains(.runs) ? LongMatches.Distances.differences : .whole).restored(distances),
            size: textSize,
            dictionary: history)
        self.init(control: Array(control), numbers: Array(numbers), text: text, work)
    }

    package mutating func number() throws(CompressionError) -> UInt64 { try control.varint() }

    package mutating func bytes() throws(CompressionError) -> [UInt8] {
        let count = try control.count(limit: min(SegmentLimits.chunkSize, contentLeft))
        let range = try text.take(count)
        contentLeft -= count
        return Array(text.bytes[range])
    }
}
