package import StoreFormat

/// One segment: numbers, chunks of bytes and groups of rows, in the order of the calls.
///
/// Memory: some ten times the content.
/// Source: `Protocol/COLUMNS.md`, "Segments and row groups".
package struct SegmentWriter {
    private let effort: SegmentEffort
    private let cost: TrialCost
    private(set) var areas = SegmentAreas()
    private var rowCount = 0
    /// Bytes of records and chunks so far.
    package private(set) var contentSize = 0

    package init(effort: SegmentEffort) throws(CompressionError) {
        self.effort = effort
        cost = try TrialCost(effort: effort)
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
        // Not kept beside what deflate takes.
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

    /// With the matches that make it smallest, as far as care goes.
    private func smallestContent() -> [UInt8] {
        let candidates = effort.leastGains
        guard candidates.count > 1 else { return content(leastGain: candidates[0]) }
        var best: (size: Int, content: [UInt8])?
        // Each takes a second or so: for a segment that nobody wants any more, one is enough.
        for candidate in candidates where best == nil || !Task.isCancelled {
            let content = content(leastGain: candidate)
            let size = cost.of(content)
            if size < best?.size ?? Int.max { best = (size, content) }
        }
        return best?.content ?? content(leastGain: nil)
    }

    /// - Parameter leastGain: Of matches; `nil` for none.
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

/// The first byte of a segment.
enum SegmentForm: UInt8 {
    /// The content follows.
    case stored = 0
    /// The content's size follows, a varint, and its raw deflate stream (RFC 1951).
    case deflated = 1
}
