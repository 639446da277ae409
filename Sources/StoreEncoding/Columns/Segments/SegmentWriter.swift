package import ShipCompression
package import StoreFormat

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

    /// - Parameters:
    ///   - contentSize: Bytes of records and chunks that it will get, at most.
    ///   - contents: These, if it is to look for what stands in several of them.
    package init(
        effort: SegmentEffort, contentSize: Int = SegmentLimits.contentSize, contents: [[UInt8]] = []
    ) throws(CompressionError) {
        self.effort = effort
        cost = try TrialCost(effort: effort, contentSize: contentSize, contents: contents)
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

    /// - Parameters:
    ///   - found: How many matches the dictionary has in the records, and how many bytes.
    ///   - keys: What is known of columns whose values stand elsewhere.
    /// - Throws: `.notCanonical` for a record that is not in the encoding of `form`, `.segmentFull`; the segment is as
    ///   before then.
    package mutating func rows(
        _ group: RowGroup, integers form: IntegerForm = .modern, found: (count: Int, bytes: Int)? = nil,
        sharing keys: [Int: SharedKeys] = [:], noting note: PartNote? = nil
    ) throws(CompressionError) {
        guard rowCount + group.ends.count <= SegmentLimits.rows,
            contentSize + group.records.count <= SegmentLimits.contentSize
        else { throw .segmentFull }
        areas.append(
            try group.encode(
                form, effort: effort, cost: cost, found: found, sharing: keys, after: areas.keyColumns, noting: note))
        rowCount += group.ends.count
        contentSize += group.records.count
    }

    /// What a segment deflates.
    private struct Content {
        var form: SegmentForm = []
        var bytes: [UInt8] = []
        /// Where the literals begin.
        var head = 0
    }

    /// A text of no more bytes is deflated at lower levels and without matches too: of few bytes these may make fewer, as libdeflate's
    /// levels search in different ways, and matches may take more than they save.
    private static let fewBytes = 1 << 15

    /// - Parameter earlier: The dictionary that the text may refer to.
    /// - Returns: The encoded segment.
    /// - Throws: `.segmentFull` if it is over `SegmentLimits.encodedSize`.
    package consuming func finish(after earlier: EarlierRuns.Dictionary? = nil) throws(CompressionError) -> [UInt8] {
        // From here on nobody looks for what stands in several of them.
        cost.contents = []
        let own = smallestContent(earlier)
        var best = try segment(of: own, [effort.deflateLevel])
        if effort.thoroughness == .usual, let coded = withWords(own) {
            let other = try segment(of: coded, [effort.deflateLevel])
            if other.count < best.count { best = other }
        }
        if best.count <= Self.fewBytes {
            let lower = [1, 3, 6, 9].filter { $0 < effort.deflateLevel }
            var others = [try segment(of: own, lower)]
            if effort.thoroughness != .great, effort.margins != [nil] {
                others.append(try segment(of: content(margin: nil), lower + [effort.deflateLevel]))
            }
            for other in others where other.count < best.count { best = other }
        }
        guard best.count <= SegmentLimits.encodedSize else { throw .segmentFull }
        return best
    }

    /// The segment of a content, deflated at the level that makes it shortest, or as it is.
    private func segment(of content: Content, _ levels: [Int32]) throws(CompressionError) -> [UInt8] {
        guard content.bytes.count <= SegmentLimits.inflatedSize else { throw .segmentFull }
        var segment: [UInt8] = [content.form.union(.deflated).rawValue]
        segment.appendVarint(UInt64(content.bytes.count))
        if let deflated = try deflated(content.bytes, levels), deflated.count + segment.count < content.bytes.count + 1
        {
            return segment + deflated
        }
        return [content.form.rawValue] + content.bytes
    }

    /// - Returns: `nil` if it would not be shorter.
    private func deflated(_ content: [UInt8], _ levels: [Int32]) throws(CompressionError) -> [UInt8]? {
        var best: [UInt8]?
        for level in levels {
            guard var stream = try Deflate.raw(of: content, level: level) else { continue }
            // The one that is shortest afterwards need not be so before.
            if effort.thoroughness == .great, !Task.isCancelled {
                stream = DeflateOptimizer.shorter(stream, of: content) ?? stream
            }
            if stream.count < best?.count ?? .max { best = stream }
        }
        return best
    }

    /// The smallest content, of those with the long matches that the effort tries, and with great thoroughness of those with words.
    private func smallestContent(_ earlier: EarlierRuns.Dictionary?) -> Content {
        let candidates = effort.margins
        let earlier = earlier.flatMap { $0.runs.isEmpty ? nil : $0 }
        let builtIn = MatchDictionary.builtInBytes
        let dictionary =
            earlier.map { MatchDictionary(bytes: builtIn + $0.bytes, values: $0.keys.map { $0 + builtIn.count }) }
            ?? .builtIn
        guard candidates.count > 1 else { return content(margin: candidates[0], dictionary, earlier?.runs) }
        var best: (size: Int, content: Content)?
        // Each trial takes a second or so: a segment that is not wanted any more gets only one.
        for candidate in candidates where best == nil || !Task.isCancelled {
            let plain = content(margin: candidate, dictionary, earlier?.runs)
            for content in [plain, withWords(plain)] {
                guard let content else { continue }
                let size = cost.of(content.bytes)
                if size < best?.size ?? Int.max { best = (size, content) }
            }
        }
        return best?.content ?? content(margin: nil)
    }

    /// - Parameter margin: See `LongMatches`; `nil` for no long matches.
    private func content(margin: Int?, _ dictionary: MatchDictionary = .builtIn, _ runs: [PageRun]? = nil) -> Content {
        let matches = margin.map {
            LongMatches(
                areas.text, values: areas.keys, dictionary: dictionary, effort: effort, margin: $0,
                distances: runs == nil ? .whole : .differences)
        }
        var content = Content()
        content.bytes.reserveCapacity(areas.control.count + areas.numbers.count + areas.text.count + 64)
        if let matches, matches.count > 0, let runs {
            content.form = .runs
            PageRun.write(runs, to: &content.bytes)
        }
        content.bytes.appendVarint(UInt64(areas.control.count))
        content.bytes.appendVarint(UInt64(areas.numbers.count))
        content.bytes.appendVarint(UInt64(areas.text.count))
        content.bytes.appendVarint(UInt64(matches?.count ?? 0))
        content.bytes += areas.control
        if let matches {
            content.bytes += matches.runs
            content.bytes += matches.lengths
            content.bytes += matches.distances
        }
        content.bytes += areas.numbers
        content.head = content.bytes.count
        content.bytes += matches?.literals ?? areas.text
        return content
    }

    /// The content with words; `nil` if few words come again in its literals.
    private func withWords(_ content: Content) -> Content? {
        guard let coded = WordSearch.coded(content.bytes[content.head...]),
            content.head + coded.count <= SegmentLimits.inflatedSize
        else { return nil }
        return Content(form: content.form.union(.words), bytes: content.bytes[..<content.head] + coded)
    }
}
