import ShipCompression
import StoreFormat

/// Rows of the base that a segment's dictionary is made of: the place of a tree, that of the first row in it, and how many rows follow one
/// another.
typealias DictionaryRun = (tree: Int, first: Int, count: Int)

extension SegmentReader {
    /// Decodes what `DeltaEncodings` encodes. It does not trust the bytes.
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
