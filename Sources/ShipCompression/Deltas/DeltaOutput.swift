import StoreFormat

/// The segments of a delta, as they fill.
struct DeltaOutput {
    /// Bytes of rows from which on a segment is full.
    static let capacity = 1 << 19
    /// Bytes of the base that a segment with few new strings refers to, about, and one with many.
    private static let (smallDictionary, largeDictionary) = (PresetDeflate.window, DeltaLimits.dictionarySize)
    /// Bytes of new strings that are many.
    private static let muchText = 16_384
    /// From so much new text on it pays to refer to the base.
    private static let leastText = 40

    private let base: DeltaStore?
    private let effort: SegmentEffort
    private let limit: Int64
    private let deliver: (EncodedSegment, EncodedSegment.Position) throws -> Void
    var writer: DeltaSegmentWriter
    /// Bytes of rows in the segment at hand.
    private var size = 0
    private var neighbours: [Neighbours] = []
    /// The last full segment, until it is known whether it is the last of all.
    private var held: EncodedSegment?
    private var total: Int64 = 0
    /// Bytes of the result that the segment at hand stands for.
    var storeBytes: Int64 = 0

    /// New strings of a part, and where in the base their like may be.
    struct Neighbours: Hashable {
        let tree: Int
        /// The place in the base where they come.
        let place: Int
        /// Rows of the tree in the base.
        let rows: Int
        /// Of them, in bytes, and of how many rows.
        let text: Int
        let count: Int
    }

    init(
        base: DeltaStore?, _ effort: SegmentEffort, limit: Int64,
        deliver: @escaping (EncodedSegment, EncodedSegment.Position) throws -> Void
    ) throws {
        self.base = base
        self.effort = effort
        self.limit = limit
        self.deliver = deliver
        writer = try DeltaSegmentWriter(effort: effort)
    }

    /// Something of a part was written.
    mutating func wrote(_ bytes: Int, _ neighbours: Neighbours?) throws {
        size += bytes
        if let neighbours, neighbours.text > 0 { self.neighbours.append(neighbours) }
        if size >= Self.capacity { try flush() }
    }

    /// Writes bytes in pieces, as they can be made of others.
    mutating func write(_ new: any ByteSource, from base: any ByteSource) throws {
        var steps: [PieceStep] = []
        var (size, end): (Int, Int64) = (0, 0)
        var output = self
        func close() throws {
            guard !steps.isEmpty else { return }
            output.writer.areas.unsigned(DeltaTag.piece.rawValue)
            BytePiece.write(steps, after: &end, into: &output.writer.areas)
            try output.wrote(size, nil)
            steps = []
            size = 0
        }
        try PieceSearch(base).run(over: new) { step in
            steps.append(step)
            size += step.literal.count + 8
            if size >= Self.capacity { try close() }
        }
        try close()
        self = output
    }

    private mutating func flush() throws {
        let runs = dictionaryRuns()
        let dictionary = try base.map { try DeltaDictionary.bytes(runs, of: $0) } ?? []
        let full = writer
        writer = try DeltaSegmentWriter(effort: effort)
        let bytes = try full.finish(runs, dictionary)
        total += Int64(bytes.count)
        guard total <= limit else { throw DeltaFailure.tooLarge }
        if let held { try deliver(held, .more) }
        held = EncodedSegment(bytes: bytes, storeBytes: storeBytes)
        (size, neighbours, storeBytes) = (0, [], 0)
    }

    mutating func finish() throws {
        if !writer.areas.control.isEmpty { try flush() }
        if let held { try deliver(held, .last) }
        held = nil
    }

    /// Rows of the base about where new strings come, of each tree in the measure of the strings.
    private func dictionaryRuns() -> [DictionaryRun] {
        guard neighbours.reduce(0, { $0 + $1.text }) >= Self.leastText else { return [] }
        var trees: [Int: (text: Int, count: Int, place: Int, rows: Int)] = [:]
        for part in neighbours {
            var tree = trees[part.tree] ?? (0, 0, part.place, part.rows)
            tree.text += part.text
            tree.count += part.count
            trees[part.tree] = tree
        }
        let largest = trees.filter { $0.value.rows > 0 }.sorted {
            $0.value.text == $1.value.text ? $0.key < $1.key : $0.value.text < $1.value.text
        }
        .suffix(DeltaLimits.dictionaryRuns)
        let all = largest.reduce(0) { $0 + $1.value.text }
        guard all > 0 else { return [] }
        let size = all < Self.muchText ? Self.smallDictionary : Self.largeDictionary
        return largest.map { tree, sums in
            let share = max(1024, size / max(1, all / max(1, sums.text)))
            let count = max(1, min(sums.rows, share * sums.count / max(1, sums.text), 1 << 20))
            let first = max(0, min(sums.place - count / 2, sums.rows - count))
            return DictionaryRun(tree: tree, first: first, count: count)
        }
    }
}
