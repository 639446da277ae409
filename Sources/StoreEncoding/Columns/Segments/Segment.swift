package import ShipCompression
package import StoreFormat

/// The limits of a segment. Both sides check them before they allocate anything.
///
/// Source: `Protocol/COLUMNS.md` 2.
package enum SegmentLimits {
    /// Bytes of an encoded segment.
    package static let encodedSize = 4 * 1_048_576 + 1_024
    /// Bytes of all areas together, once inflated.
    package static let inflatedSize = 8 * 1_048_576
    /// Bytes of the text area once its long matches are resolved.
    package static let textSize = 8 * 1_048_576
    /// Bytes of one chunk.
    package static let chunkSize = 1_048_576
    /// Bytes of the records of one group.
    package static let groupSize = 4 * 1_048_576
    /// Bytes of the records and chunks of all calls together; less than `inflatedSize`, which tags and tables share.
    package static let contentSize = 6 * 1_048_576
    /// In all groups together.
    package static let rows = 1_048_576
    package static let columns = 32_767
    /// Integers, reals and strings that are decoded for one segment, with those within other encodings.
    package static let values = 67_108_864
    /// Bytes of all strings that are put together, and do not stand in the text area as they are.
    package static let builtSize = 33_554_432
    /// Bytes of one string that is deflated, and of all.
    package static let deflatedString = 1_048_576
    package static let deflatedStrings = 8 * 1_048_576
    /// Encodings within one another.
    package static let depth = 8
    /// Columns of fewer values keep their numbers in the control area.
    static let smallColumn = 16
}

/// The first byte of a segment of rows, or of a delta.
///
/// Source: `Protocol/COLUMNS.md` 2, `Protocol/DELTA.md` 3.
enum SegmentForm: UInt8 {
    /// The content follows.
    case stored = 0
    /// The content's size follows, a varint, and its raw deflate stream (RFC 1951).
    case deflated = 1
    /// In a delta only: the runs of the dictionary follow, and then the same as in `deflated`. The text and the stream may refer to the
    /// dictionary.
    case preset = 2
}

/// Writes one segment: numbers, chunks of bytes and groups of rows, in the order of the calls.
///
/// Memory: some ten times the content.
/// Source: `Protocol/COLUMNS.md` 2.
package struct SegmentWriter {
    private let effort: SegmentEffort
    private let cost: TrialCost
    private(set) var areas = SegmentAreas()
    private var rowCount = 0
    /// Bytes of records and chunks so far.
    package private(set) var contentSize = 0

    /// - Parameter contentSize: Bytes of records and chunks that it will get, at most.
    package init(effort: SegmentEffort, contentSize: Int = SegmentLimits.contentSize) throws(CompressionError) {
        self.effort = effort
        cost = try TrialCost(effort: effort, contentSize: contentSize)
    }

    package mutating func number(_ value: UInt64) { areas.unsigned(value) }

    /// - Parameter chunk: At most 1 MiB.
    /// - Throws: `.segmentFull`; the segment is as before then.
    package mutating func bytes(_ chunk: [UInt8], noting note: PartNote? = nil) throws(CompressionError) {
        guard chunk.count <= SegmentLimits.chunkSize, contentSize + chunk.count <= SegmentLimits.contentSize else {
            throw .segmentFull
        }
        areas.count(chunk.count)
        areas.text += chunk
        note?(.longRows, cost.of(chunk))
        contentSize += chunk.count
    }

    /// - Throws: `.notCanonical` for a record that is not in the encoding of `form`, `.segmentFull`; the segment is as
    ///   before then.
    package mutating func rows(
        _ group: RowGroup, integers form: IntegerForm = .modern, noting note: PartNote? = nil
    ) throws(CompressionError) {
        guard rowCount + group.ends.count <= SegmentLimits.rows,
            contentSize + group.records.count <= SegmentLimits.contentSize
        else { throw .segmentFull }
        areas.append(try group.encode(form, effort: effort, cost: cost, noting: note))
        rowCount += group.ends.count
        contentSize += group.records.count
    }

    /// - Returns: The encoded segment.
    /// - Throws: `.segmentFull` if it is over `SegmentLimits.encodedSize`.
    package consuming func finish() throws(CompressionError) -> [UInt8] {
        let content = smallestContent()
        // Frees memory before deflate takes its own.
        areas = SegmentAreas()
        guard content.count <= SegmentLimits.inflatedSize else { throw .segmentFull }
        var segment: [UInt8] = [SegmentForm.deflated.rawValue]
        segment.appendVarint(UInt64(content.count))
        if let deflated = try deflated(content), deflated.count + segment.count < content.count + 1 {
            segment += deflated
        } else {
            segment = [SegmentForm.stored.rawValue] + content
        }
        guard segment.count <= SegmentLimits.encodedSize else { throw .segmentFull }
        return segment
    }

    /// - Returns: `nil` if it would not be shorter.
    private func deflated(_ content: [UInt8]) throws(CompressionError) -> [UInt8]? {
        guard let deflated = try Deflate.raw(of: content, level: effort.deflateLevel) else { return nil }
        guard effort.care == .great, !Task.isCancelled else { return deflated }
        return DeflateOptimizer.shorter(deflated, of: content) ?? deflated
    }

    /// The content with the long matches that make it smallest, of those that the effort tries.
    private func smallestContent() -> [UInt8] {
        let candidates = effort.leastGains
        guard candidates.count > 1 else { return content(leastGain: candidates[0]) }
        var best: (size: Int, content: [UInt8])?
        // Each trial takes a second or so: a segment that is not wanted any more gets only one.
        for candidate in candidates where best == nil || !Task.isCancelled {
            let content = content(leastGain: candidate)
            let size = cost.of(content)
            if size < best?.size ?? Int.max { best = (size, content) }
        }
        return best?.content ?? content(leastGain: nil)
    }

    /// - Parameter leastGain: The least gain of a long match; `nil` for no long matches.
    private func content(leastGain: Int?) -> [UInt8] {
        let matches = leastGain.map {
            LongMatches(areas.text, dictionary: .builtIn, effort: effort, leastGain: $0)
        }
        var content: [UInt8] = []
        content.reserveCapacity(areas.control.count + areas.numbers.count + areas.text.count + 64)
        content.appendVarint(UInt64(areas.control.count))
        content.appendVarint(UInt64(areas.numbers.count))
        content.appendVarint(UInt64(areas.text.count))
        content.appendVarint(UInt64(matches?.count ?? 0))
        content += areas.control
        if let matches {
            content += matches.runs
            content += matches.lengths
            content += matches.distances
        }
        content += areas.numbers
        content += matches?.literals ?? areas.text
        return content
    }
}

/// What `SegmentWriter` wrote is read in the same order.
///
/// Source: `Protocol/COLUMNS.md` 2.
extension SegmentReader {
    /// - Throws: `.damaged`; nothing is inflated beyond `SegmentLimits`.
    package init(decoding segment: [UInt8], _ work: DecodingWork = DecodingWork()) throws(CompressionError) {
        guard segment.count <= SegmentLimits.encodedSize else { throw .damaged(.segmentLimit) }
        var head = AreaCursor(segment)
        guard let form = SegmentForm(rawValue: try head.byte()) else { throw .damaged(.segment) }
        var content: AreaCursor
        switch form {
        case .stored:
            try work.spend(segment.count - 1)
            content = AreaCursor(Array(segment.dropFirst()))
        case .deflated:
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            try work.spend(size)
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], size: size))
        case .preset: throw .damaged(.segment)
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
        try work.spend(textSize)
        let text = try LongMatches.text(
            literals, runs: runs, lengths: lengths, distances: distances, size: textSize,
            dictionary: MatchDictionary.builtInBytes)
        self.init(control: Array(control), numbers: Array(numbers), text: text, work)
    }

    package mutating func number() throws(CompressionError) -> UInt64 { try control.varint() }

    package mutating func bytes() throws(CompressionError) -> [UInt8] {
        let count = try control.count(limit: min(SegmentLimits.chunkSize, contentLeft))
        let range = try text.take(count)
        contentLeft -= count
        return Array(text.bytes[range])
    }

    package mutating func rows() throws(CompressionError) -> RowGroup { try RowGroup(from: &self) }
}
