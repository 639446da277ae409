import ShipCompression
import StoreFormat

/// Rows of the base that a segment's dictionary is made of: the place of a tree, that of the first row in it, and how many rows follow one
/// another.
typealias DictionaryRun = (tree: Int, first: Int, count: Int)

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
        add(
            Encoding(
                head: [DeltaForm.stored.rawValue], stream: areas.content(nil, effort, leastGain: nil), content: nil))
        for leastGain in effort.leastGains {
            let content = areas.content(.builtIn, effort, leastGain: leastGain)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            // What long matches leave may be short and no shorter.
            let stream =
                try Deflate.raw(of: content, level: effort.deflateLevel)
                ?? (leastGain == nil ? nil : Deflate.stored(content))
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
        for leastGain in effort.leastGains {
            let content = areas.content(matches, effort, leastGain: leastGain)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            var head = front
            head.appendVarint(UInt64(content.count))
            // A stream that does not refer to the dictionary is valid here, too, and may be shorter.
            for stream in [
                try Deflate.raw(of: content, after: dictionary) ?? Deflate.stored(content),
                try leastGain == nil ? nil : Deflate.raw(of: content, level: effort.deflateLevel),
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
    fileprivate func content(_ dictionary: MatchDictionary?, _ effort: SegmentEffort, leastGain: Int?) -> [UInt8] {
        let matches = dictionary.flatMap { dictionary in
            leastGain.map { LongMatches(text, dictionary: dictionary, effort: effort, leastGain: $0) }
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

extension SegmentReader {
    /// Decodes what `SegmentAreas.deltaSegment` encodes. It does not trust the bytes.
    ///
    /// - Parameter dictionary: Reads the dictionary from the base.
    /// - Throws: `.damaged`, and what `dictionary` throws.
    init(
        ofDelta segment: [UInt8], _ work: DecodingWork,
        dictionary: ([DictionaryRun]) throws -> [UInt8]
    ) throws {
        guard segment.count <= SegmentLimits.encodedSize else { throw CompressionError.damaged(.segmentLimit) }
        var head = AreaCursor(segment)
        guard let form = DeltaForm(rawValue: try head.byte()) else { throw CompressionError.damaged(.segment) }
        var content: AreaCursor
        var history = MatchDictionary.builtInBytes
        switch form {
        case .stored:
            try work.spend(segment.count - 1)
            content = AreaCursor(Array(segment.dropFirst()))
        case .deflated:
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            try work.spend(size)
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], size: size))
        case .preset:
            var runs: [DictionaryRun] = []
            for _ in 0..<(try head.count(limit: SegmentLimits.dictionaryRuns)) {
                runs.append(
                    (
                        tree: try head.count(limit: 1 << 20), first: try head.count(limit: 1 << 40),
                        count: try head.count(limit: 1 << 20)
                    ))
            }
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            try work.spend(size)
            let preset = try dictionary(runs)
            history += preset
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], after: preset, size: size))
        }
        let controlSize = try content.count(limit: SegmentLimits.inflatedSize)
        let numberSize = try content.count(limit: SegmentLimits.inflatedSize)
        let matchCount = try content.count(limit: SegmentLimits.textSize / LongMatches.shortest)
        let control = content.bytes[try content.take(controlSize)]
        let numbers = content.bytes[try content.take(numberSize)]
        var text: [UInt8]
        if matchCount == 0 {
            text = Array(content.bytes[content.offset...])
            try work.spend(text.count)
            guard text.count <= SegmentLimits.textSize else { throw CompressionError.damaged(.segmentLimit) }
        } else {
            let textSize = try content.count(limit: SegmentLimits.textSize)
            try work.spend(textSize)
            let runs = try content.varints(matchCount)
            let lengths = try content.varints(matchCount)
            let distances = try content.varints(matchCount)
            text = try LongMatches.text(
                content.bytes[content.offset...], runs: runs, lengths: lengths, distances: distances, size: textSize,
                dictionary: history)
        }
        self.init(control: Array(control), numbers: Array(numbers), text: text, work)
    }
}

extension DeltaStore {
    /// The dictionary of a segment: texts and blobs of rows of the base, run by run and column by column, each followed by a zero byte.
    /// Of a dictionary over the limit, the end is taken.
    ///
    /// Source: `Protocol/DELTA.md` section 3.
    ///
    /// - Throws: `.damaged(.base)` for rows that are not there; `StoreFlaw`, and what the pages throw.
    func dictionary(_ runs: [DictionaryRun], _ work: DecodingWork) throws -> [UInt8] {
        guard !runs.isEmpty else { return [] }
        guard let inflater = BlobInflater() else { throw CompressionError.outOfMemory }
        var bytes: [UInt8] = []
        for run in runs {
            try work.spend(DecodingWork.move(pageSize: geometry.pageSize))
            guard run.tree < trees.count, run.first <= mostRows else {
                throw CompressionError.damaged(.base)
            }
            var rows = try self.rows(of: run.tree)
            guard try rows.move(to: run.first) else { throw CompressionError.damaged(.base) }
            var columns: [[UInt8]] = []
            var size = 0
            var row = DeltaRow()
            for _ in 0..<run.count {
                guard size <= SegmentLimits.dictionarySize, try rows.next(&row) else { break }
                try work.spend(DecodingWork.row + (row.isLong ? 0 : row.size / 4))
                guard !row.isLong, let values = DeltaValue.values(of: row.record) else { continue }
                for (column, value) in values.enumerated() {
                    if column == columns.count { columns.append([]) }
                    guard let string = value.string else { continue }
                    var inflated: [UInt8]?
                    if value.isBlob, size <= SegmentLimits.dictionarySize {
                        var budget = Int.max
                        inflated = inflater.content(of: string, within: &budget)
                        try work.spend(Int.max - budget)
                    }
                    let start = columns[column].count
                    if let inflated { columns[column] += inflated } else { columns[column] += string }
                    columns[column].append(0)
                    size += columns[column].count - start
                }
            }
            for column in columns { bytes += column }
            if bytes.count > SegmentLimits.dictionarySize {
                bytes.removeFirst(bytes.count - SegmentLimits.dictionarySize)
            }
        }
        return bytes
    }
}
