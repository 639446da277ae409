import ShipCompression

/// A few ways to write a segment of a delta, those with the fewest bytes.
struct DeltaEncodings {
    /// How many are kept until one is chosen.
    private let most: Int
    /// The most bytes of content of which several streams are optimized, as that takes ten times as long as making them.
    private static let smallContent = 1 << 16

    private struct Encoding {
        let head: [UInt8]
        let stream: [UInt8]
        /// What the stream stands for; `nil` if it is that itself.
        let content: (bytes: [UInt8], preset: [UInt8])?

        var size: Int { head.count + stream.count }

        var optimized: [UInt8] {
            head + (content.flatMap { DeflateOptimizer.shorter(stream, of: $0.bytes, after: $0.preset) } ?? stream)
        }
    }

    /// The shortest first.
    private var best: [Encoding] = []

    init(_ effort: SegmentEffort) { most = effort.thoroughness == .great ? 8 : 3 }

    /// In bytes; 0 for none.
    var size: Int { best.first?.size ?? 0 }

    private mutating func add(_ encoding: Encoding) {
        guard best.count < most || encoding.size < best[best.count - 1].size else { return }
        best.insert(encoding, at: best.firstIndex { encoding.size < $0.size } ?? best.count)
        if best.count > most { best.removeLast() }
    }

    /// Adds those of areas without a dictionary.
    mutating func add(_ areas: SegmentAreas, _ effort: SegmentEffort) throws(CompressionError) {
        let stored = areas.content(nil, effort, margin: nil)
        add(Encoding(head: [DeltaForm.stored.rawValue], stream: stored, content: nil))
        for margin in effort.margins {
            let content = areas.content(.builtIn, effort, margin: margin)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            // What long matches leave may be short and no shorter.
            let stream =
                try Deflate.raw(of: content, level: effort.deflateLevel)
                ?? (margin == nil ? nil : Deflate.stored(content))
            guard let stream else { continue }
            var head = [DeltaForm.deflated.rawValue]
            head.appendVarint(UInt64(content.count))
            add(Encoding(head: head, stream: stream, content: (content, [])))
        }
    }

    /// Adds those of areas with a dictionary.
    ///
    /// - Parameters:
    ///   - runs: The rows of the dictionary.
    ///   - dictionary: Its bytes.
    ///   - matches: The same, behind the built-in dictionary.
    mutating func add(
        _ areas: SegmentAreas, _ effort: SegmentEffort, after runs: [DictionaryRun], _ dictionary: [UInt8],
        _ matches: MatchDictionary
    ) throws(CompressionError) {
        var front = [DeltaForm.preset.rawValue]
        front.appendVarint(UInt64(runs.count))
        for run in runs {
            for number in [run.tree, run.first, run.count] { front.appendVarint(UInt64(number)) }
        }
        for margin in effort.margins {
            let content = areas.content(matches, effort, margin: margin)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            var head = front
            head.appendVarint(UInt64(content.count))
            // A stream that does not refer to the dictionary is valid here, too, and may be shorter.
            for stream in [
                Deflate.raw(of: content, after: dictionary) ?? Deflate.stored(content),
                try margin == nil ? nil : Deflate.raw(of: content, level: effort.deflateLevel),
            ] {
                if let stream { add(Encoding(head: head, stream: stream, content: (content, dictionary))) }
            }
        }
    }

    /// The segment in the fewest bytes.
    ///
    /// - Throws: `.segmentFull`.
    func smallest(_ effort: SegmentEffort) throws(CompressionError) -> [UInt8] {
        let isLarge = (best.first?.content?.bytes.count ?? 0) > Self.smallContent
        let chosen = best.prefix(isLarge ? most / 3 : most).map { encoding in
            isLarge && effort.thoroughness == .small ? encoding.head + encoding.stream : encoding.optimized
        }
        guard let smallest = chosen.min(by: { $0.count < $1.count }), smallest.count <= SegmentLimits.encodedSize else {
            throw .segmentFull
        }
        return smallest
    }
}

extension SegmentAreas {
    fileprivate func content(_ dictionary: MatchDictionary?, _ effort: SegmentEffort, margin: Int?) -> [UInt8] {
        let matches = dictionary.flatMap { dictionary in
            margin.map { LongMatches(text, dictionary: dictionary, effort: effort, margin: $0) }
        }
        var content: [UInt8] = []
        content.reserveCapacity(control.count + numbers.count + text.count + 64)
        content.appendVarint(UInt64(control.count))
        content.appendVarint(UInt64(numbers.count))
        content.appendVarint(UInt64(matches?.count ?? 0))
        content += control
        content += numbers
        if let matches, matches.count > 0 {
            content.appendVarint(UInt64(text.count))
            content += matches.runs
            content += matches.lengths
            content += matches.distances
            content += matches.literals
        } else {
            content += text
        }
        return content
    }
}
