/// The first byte of a delta's segment.
///
/// Source: `Protocol/DELTA.md` section 3.
enum DeltaForm: UInt8 {
    /// The content follows.
    case stored = 0
    /// The content's size follows, a varint, and its raw deflate stream.
    case deflated = 1
    /// The rows of the base follow that the text and the stream may refer to, then the same as in `deflated`.
    case preset = 2
}

/// Rows of the base, of one tree and one after the other, whose texts and blobs a segment may refer to.
struct DictionaryRun: Hashable {
    /// The place of the tree.
    let tree: Int
    /// The place of the first row.
    let first: Int
    let count: Int
}

/// What is written of one segment.
struct DeltaSegmentWriter {
    let effort: SegmentEffort
    let cost: TrialCost
    var areas = SegmentAreas()

    init(effort: SegmentEffort) throws(CompressionError) {
        self.effort = effort
        cost = try TrialCost(effort: effort)
    }

    /// - Parameters:
    ///   - runs: Rows of the base that may be referred to; empty for none.
    ///   - dictionary: What they come to.
    /// - Returns: The encoded segment, the smallest of those that can be.
    /// - Throws: `.segmentFull`.
    consuming func finish(
        _ runs: [DictionaryRun], _ dictionary: [UInt8]
    ) throws(CompressionError) -> [UInt8] {
        let stored = content(nil, leastGain: nil)
        var best = [DeltaForm.stored.rawValue] + stored
        for leastGain in effort.leastGains {
            let content = leastGain == nil ? stored : content(.builtIn, leastGain: leastGain)
            guard content.count <= SegmentLimits.inflatedSize else { continue }
            if let deflated = try Deflate.raw(of: content, level: effort.deflateLevel) {
                var segment = [DeltaForm.deflated.rawValue]
                segment.appendVarint(UInt64(content.count))
                segment += DeflateOptimizer.shorter(deflated, of: content) ?? deflated
                if segment.count < best.count { best = segment }
            }
        }
        if !runs.isEmpty {
            let matches = MatchDictionary(SegmentDictionary.bytes + dictionary)
            for leastGain in effort.leastGains {
                let content = leastGain == nil ? stored : content(matches, leastGain: leastGain)
                guard content.count <= SegmentLimits.inflatedSize else { continue }
                var segment = [DeltaForm.preset.rawValue]
                segment.appendVarint(UInt64(runs.count))
                for run in runs {
                    for number in [run.tree, run.first, run.count] { segment.appendVarint(UInt64(number)) }
                }
                segment.appendVarint(UInt64(content.count))
                // A stream that does not reach into the dictionary is one that may.
                for deflated in [
                    try PresetDeflate.stream(of: content, after: dictionary),
                    try Deflate.raw(of: content, level: effort.deflateLevel),
                ] {
                    guard let deflated else { continue }
                    let shorter = DeflateOptimizer.shorter(deflated, of: content, after: dictionary)
                    let whole = segment + (shorter ?? deflated)
                    if whole.count < best.count { best = whole }
                }
            }
        }
        guard best.count <= SegmentLimits.encodedSize else { throw .segmentFull }
        return best
    }

    private func content(_ dictionary: MatchDictionary?, leastGain: Int?) -> [UInt8] {
        let matches = dictionary.flatMap { dictionary in
            leastGain.map { LongMatches(areas.text, dictionary: dictionary, effort: effort, leastGain: $0) }
        }
        var content: [UInt8] = []
        content.reserveCapacity(areas.control.count + areas.numbers.count + areas.text.count + 64)
        content.appendVarint(UInt64(areas.control.count))
        content.appendVarint(UInt64(areas.numbers.count))
        content.appendVarint(UInt64(matches?.count ?? 0))
        content += areas.control
        content += areas.numbers
        if let matches, matches.count > 0 {
            content.appendVarint(UInt64(areas.text.count))
            content += matches.runs
            content += matches.lengths
            content += matches.distances
            content += matches.literals
        } else {
            content += areas.text
        }
        return content
    }
}

extension SegmentSource {
    /// What `DeltaSegmentWriter` wrote; any bytes may come.
    ///
    /// - Parameter dictionary: What runs of the base's rows come to.
    /// - Throws: `.damaged`, and what `dictionary` throws.
    init(ofDelta segment: [UInt8], dictionary: ([DictionaryRun]) throws -> [UInt8]) throws {
        guard segment.count <= SegmentLimits.encodedSize else { throw CompressionError.damaged(.segmentLimit) }
        var head = AreaCursor(segment)
        guard let form = DeltaForm(rawValue: try head.byte()) else { throw CompressionError.damaged(.segment) }
        var content: AreaCursor
        var history = SegmentDictionary.bytes
        switch form {
        case .stored: content = AreaCursor(Array(segment.dropFirst()))
        case .deflated:
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            content = AreaCursor(try Deflate.bytes(ofRaw: segment[head.offset...], size: size))
        case .preset:
            var runs: [DictionaryRun] = []
            for _ in 0..<(try head.count(limit: DeltaLimits.dictionaryRuns)) {
                runs.append(
                    DictionaryRun(
                        tree: try head.count(limit: 1 << 20), first: try head.count(limit: 1 << 40),
                        count: try head.count(limit: 1 << 20)))
            }
            let size = try head.count(limit: SegmentLimits.inflatedSize)
            let preset = try dictionary(runs)
            history += preset
            content = AreaCursor(try PresetDeflate.bytes(of: segment[head.offset...], after: preset, size: size))
        }
        let controlSize = try content.count(limit: SegmentLimits.inflatedSize)
        let numberSize = try content.count(limit: SegmentLimits.inflatedSize)
        let matchCount = try content.count(limit: SegmentLimits.textSize / LongMatches.shortest)
        let control = content.bytes[try content.take(controlSize)]
        let numbers = content.bytes[try content.take(numberSize)]
        var text: [UInt8]
        if matchCount == 0 {
            text = Array(content.bytes[content.offset...])
            guard text.count <= SegmentLimits.textSize else { throw CompressionError.damaged(.segmentLimit) }
        } else {
            let textSize = try content.count(limit: SegmentLimits.textSize)
            let runs = try content.varints(matchCount)
            let lengths = try content.varints(matchCount)
            let distances = try content.varints(matchCount)
            text = try LongMatches.text(
                content.bytes[content.offset...], runs: runs, lengths: lengths, distances: distances, size: textSize,
                dictionary: history)
        }
        self.init(control: Array(control), numbers: Array(numbers), text: text)
    }
}

/// The texts and blobs of rows of the base, which a segment refers to.
///
/// Source: `Protocol/DELTA.md` section 3.
enum DeltaDictionary {
    /// Column by column, each string followed by a zero byte, run after run; of more than the limit only the end counts.
    ///
    /// - Throws: `.damaged(.base)` for rows that are not there; `StoreFlaw`, and what the pages throw.
    static func bytes(_ runs: [DictionaryRun], of base: DeltaStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for run in runs {
            guard run.tree < base.trees.count, run.first <= base.mostRows else {
                throw CompressionError.damaged(.base)
            }
            var rows = try base.rows(of: run.tree)
            guard try rows.move(to: run.first) else { throw CompressionError.damaged(.base) }
            var columns: [[UInt8]] = []
            var size = 0
            var row = DeltaRow()
            for _ in 0..<run.count {
                guard size <= DeltaLimits.dictionarySize, try rows.next(&row) else { break }
                guard !row.isLong, let values = DeltaValue.values(of: row.record) else { continue }
                for (column, value) in values.enumerated() {
                    if column == columns.count { columns.append([]) }
                    guard let string = value.string else { continue }
                    let mayInflate = value.isBlob && size <= DeltaLimits.dictionarySize
                    let inflated = mayInflate ? DeflatedBlob.inflated(string) : nil
                    let start = columns[column].count
                    if let inflated { columns[column] += inflated } else { columns[column] += string }
                    columns[column].append(0)
                    size += columns[column].count - start
                }
            }
            for column in columns { bytes += column }
            if bytes.count > DeltaLimits.dictionarySize {
                bytes.removeFirst(bytes.count - DeltaLimits.dictionarySize)
            }
        }
        return bytes
    }
}
