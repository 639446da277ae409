package import StoreFormat

/// What `SegmentWriter` wrote, in the same order; any bytes may come.
///
/// Source: `Protocol/COLUMNS.md`, "Segments and row groups".
package struct SegmentReader {
    private var source: SegmentSource
    private var rowsLeft = SegmentLimits.rows
    private var contentLeft = SegmentLimits.contentSize

    /// - Throws: `.damaged`; nothing is inflated beyond `SegmentLimits`.
    package init(decoding segment: [UInt8]) throws(CompressionError) {
        guard segment.count <= SegmentLimits.encodedSize else { throw .damaged(.segmentLimit) }
        var head = AreaCursor(segment)
        guard let form = SegmentForm(rawValue: try head.byte()) else { throw .damaged(.segment) }
        var content: AreaCursor
        switch form {
        case .stored: content = AreaCursor(Array(segment.dropFirst()))
        case .deflated:
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], size: size))
        }
        let controlSize = try content.count(limit: SegmentLimits.inflatedSize)
        let numberSize = try content.count(limit: SegmentLimits.inflatedSize)
        let textSize = try content.count(limit: SegmentLimits.textSize)
        let matchCount = try content.count(limit: SegmentLimits.textSize / LongMatches.shortest)
        let control = content.bytes[try content.take(controlSize)]
        let runs = try content.varints(matchCount)
        let lengths = try content.varints(matchCount)
        let distances = try content.varints(matchCount)
        let numbers = content.bytes[try content.take(numberSize)]
        let literals = content.bytes[content.offset...]
        let text = try LongMatches.text(
            literals, runs: runs, lengths: lengths, distances: distances, size: textSize,
            dictionary: SegmentDictionary.bytes)
        source = SegmentSource(control: Array(control), numbers: Array(numbers), text: text)
    }

    /// The encoding in which the records of the last group were made; `nil` if they are as the segment has them, and may be
    /// anything.
    package private(set) var madeForm: IntegerForm?

    package mutating func number() throws(CompressionError) -> UInt64 { try source.control.varint() }

    package mutating func bytes() throws(CompressionError) -> [UInt8] {
        let count = try source.control.count(limit: min(SegmentLimits.chunkSize, contentLeft))
        let range = try source.text.take(count)
        contentLeft -= count
        return Array(source.text.bytes[range])
    }

    package mutating func rows() throws(CompressionError) -> RowGroup {
        let group = try RowGroup(from: &source, rowLimit: rowsLeft, sizeLimit: contentLeft, madeForm: &madeForm)
        rowsLeft -= group.ends.count
        contentLeft -= group.records.count
        return group
    }

    /// Whether everything has been read.
    package var isAtEnd: Bool { source.isAtEnd }
}
