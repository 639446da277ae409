import ShipCompression
import StoreFormat

extension SegmentAreas {
    /// The most bytes of content of which each stream is optimized before one is chosen. Of more the shortest stream alone is optimized,
    /// as that takes ten times as long as making it.
    private static let smallContent = 1 << 16

    /// Encodes these areas as a segment of a delta.
    ///
    /// - Parameters:
    ///   - runs: The rows of the dictionary, run by run: the place of a tree of the base, that of the first row in it, and how many rows
    ///     follow one another. None if there is no dictionary.
    ///   - dictionary: Its bytes.
    /// - Returns: The smallest of the possible encodings.
    /// - Throws: `.segmentFull`.
    func deltaSegment(
        _ effort: SegmentEffort, _ runs: [(tree: Int, first: Int, count: Int)], _ dictionary: [UInt8]
    ) throws(CompressionError) -> [UInt8] {
        let stored = content(nil, effort, leastGain: nil)
        var best = [DeltaForm.stored.rawValue] + stored
        // Of large contents.
        var shortest: (head: [UInt8], stream: [UInt8], content: [UInt8], preset: [UInt8])?
        func compare(_ head: [UInt8], _ stream: [UInt8], of content: [UInt8], after preset: [UInt8]) {
            if content.count <= Self.smallContent {
                let whole = head + (DeflateOptimizer.shorter(stream, of: content, after: preset) ?? stream)
                if whole.count < best.count { best = whole }
            } else if head.count + stream.count < shortest.map({ $0.head.count + $0.stream.count }) ?? best.count {
                shortest = (head, stream, content, preset)
            }
        }
        // Both forms have a stream of what is stored, without long matches.
        let isTried = effort.leastGains.contains(nil) && stored.count <= SegmentLimits.inflatedSize
        let plain = try isTried ? Deflate.raw(of: stored, level: effort.deflateLevel) : nil
        for leastGain in effort.leastGains {
            let content = leastGain == nil ? stored : content(.builtIn, effort, leastGain: leastGain)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            let stream = try leastGain == nil ? plain : Deflate.raw(of: content, level: effort.deflateLevel)
            // What long matches leave may be short and no shorter.
            guard let deflated = stream ?? (leastGain == nil ? nil : Deflate.stored(content)) else { continue }
            var head = [DeltaForm.deflated.rawValue]
            head.appendVarint(UInt64(content.count))
            compare(head, deflated, of: content, after: [])
        }
        if !runs.isEmpty {
            let matches = MatchDictionary(MatchDictionary.builtInBytes + dictionary)
            for leastGain in effort.leastGains {
                let content = leastGain == nil ? stored : content(matches, effort, leastGain: leastGain)
                guard content.count <= SegmentLimits.inflatedSize else { continue }
                var head = [DeltaForm.preset.rawValue]
                head.appendVarint(UInt64(runs.count))
                for run in runs {
                    for number in [run.tree, run.first, run.count] { head.appendVarint(UInt64(number)) }
                }
                head.appendVarint(UInt64(content.count))
                // A stream that does not refer to the dictionary is valid here, too, and may be shorter.
                for deflated in [
                    try Deflate.raw(of: content, after: dictionary) ?? Deflate.stored(content),
                    try leastGain == nil ? plain : Deflate.raw(of: content, level: effort.deflateLevel),
                ] {
                    if let deflated { compare(head, deflated, of: content, after: dictionary) }
                }
            }
        }
        if let shortest {
            let (head, stream, content, preset) = shortest
            let optimized =
                effort.thoroughness == .small ? nil : DeflateOptimizer.shorter(stream, of: content, after: preset)
            let whole = head + (optimized ?? stream)
            // A small content that came later may be smaller.
            if whole.count < best.count { best = whole }
        }
        guard best.count <= SegmentLimits.encodedSize else { throw .segmentFull }
        return best
    }

    private func content(_ dictionary: MatchDictionary?, _ effort: SegmentEffort, leastGain: Int?) -> [UInt8] {
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
        dictionary: ([(tree: Int, first: Int, count: Int)]) throws -> [UInt8]
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
            var runs: [(tree: Int, first: Int, count: Int)] = []
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
    func dictionary(_ runs: [(tree: Int, first: Int, count: Int)], _ work: DecodingWork) throws -> [UInt8] {
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
