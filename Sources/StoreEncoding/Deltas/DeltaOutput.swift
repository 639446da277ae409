import ShipCompression
import StoreFormat

/// Collects items into the segments of a delta.
struct DeltaOutput {
    /// Bytes of rows at which a segment is full.
    static let capacity = 1 << 19
    /// Bytes of areas at which it is full, however few rows they stand for.
    private static let areasCapacity = 1 << 21
    /// About how many bytes of the base a segment refers to: with few new strings, and with many.
    private static let (smallDictionary, largeDictionary) = (DeflateFormat.window, SegmentLimits.dictionarySize)
    /// From this many bytes on, new strings are many.
    private static let muchText = 16_384
    /// The most that reading a dictionary may cost: some ten times what it costs where blobs do not stand for more than the dictionary
    /// holds.
    private static let dictionaryWork = 16_777_216
    /// With fewer bytes of new strings a dictionary does not pay.
    private static let leastText = 40
    /// Most bytes of new strings of a segment, where the base has more than a dictionary holds: rows that came together have their like
    /// in the base near each other, most often.
    private static let mostText = 1 << 17

    private let base: DeltaStore?
    private let effort: SegmentEffort
    /// Of the current segment: its budgets are for one.
    private(set) var cost: TrialCost
    private let limit: Int64
    private let deliver: (EncodedSegment) throws -> Void
    /// The current segment.
    var areas = SegmentAreas()
    /// Bytes of rows in the current segment.
    private var size = 0
    /// For each tree of the base: bytes of new strings in the current segment, the number of rows with them, the place in the base
    /// where the first of them belongs, and the number of rows of the tree.
    private var newText: [Int: (size: Int, count: Int, place: Int, rows: Int)] = [:]
    /// Of the tree of the base that was searched last.
    private var searched: (tree: Int, places: TextPlaces)?
    /// The last full segment. It is delivered when the next is full, or at the end as the last.
    private var held: EncodedSegment?
    private var total: Int64 = 0
    /// Bytes of the result that the current segment stands for.
    var storeBytes: Int64 = 0

    init(
        base: DeltaStore?, _ effort: SegmentEffort, limit: Int64,
        deliver: @escaping (EncodedSegment) throws -> Void
    ) throws {
        self.base = base
        self.effort = effort
        self.limit = limit
        self.deliver = deliver
        cost = try TrialCost(effort: effort)
    }

    /// Writes how a delta begins.
    ///
    /// - Parameters:
    ///   - settings: Of the base.
    ///   - trees: How many the base has, with that of `sqlite_schema`.
    mutating func write(_ new: DeltaStore, over settings: StoreSettings, trees: Int) {
        let change = new.trees.count - trees
        var flags: UInt64 = change == 0 ? 0 : DeltaHead.changesTreesFlag
        let isOther = new.settings.numbers != settings.numbers
        if isOther { flags |= DeltaHead.changesSettingsFlag }
        areas.unsigned(flags)
        if isOther { new.settings.writeChanges(from: settings, into: &areas) }
        if change != 0 { areas.signed(Int64(change)) }
    }

    /// Writes that trees are as in the base.
    mutating func write(same count: Int) {
        guard count > 0 else { return }
        areas.unsigned(DeltaTag.same.rawValue)
        areas.count(count - 1)
    }

    /// Writes that an index follows from its table.
    mutating func write(derived shape: IndexShape) throws {
        areas.unsigned(DeltaTag.derived.rawValue)
        for number in shape.numbers { areas.unsigned(number) }
        try wrote(shape.parts.count)
    }

    /// Notes that rows have new strings, which the base may have similar ones of.
    ///
    /// - Parameters:
    ///   - size: Of the strings, in bytes.
    ///   - count: Rows.
    ///   - tree: Of the base.
    ///   - place: Where the rows belong in the tree.
    ///   - rows: Of the tree.
    mutating func noteText(_ size: Int, ofRows count: Int, in tree: Int, at place: Int, rows: Int) {
        guard size > 0 else { return }
        newText[tree, default: (0, 0, place, rows)].size += size
        newText[tree]?.count += count
    }

    /// Bytes of new strings at which a segment is full.
    var mostText: Int {
        guard let base,
            Int64(base.pages.pageCount) * Int64(base.geometry.pageSize) > 4 * Int64(SegmentLimits.dictionarySize)
        else { return .max }
        return Self.mostText
    }

    /// Notes that items with so many bytes of rows were written, and ends the segment if it is full.
    mutating func wrote(_ bytes: Int) throws {
        size += bytes
        let written = areas.control.count + areas.numbers.count + areas.text.count
        let text = newText.values.reduce(0) { $0 + $1.size }
        if size >= Self.capacity || written >= Self.areasCapacity || text >= mostText { try flush() }
    }

    /// Writes bytes as pieces, copied from a base where a search in that finds them.
    mutating func write(_ new: any ByteSource, by search: PieceSearch) throws {
        var pieces: [Piece] = []
        var (size, end): (Int, Int64) = (0, 0)
        var output = self
        func close() throws {
            guard !pieces.isEmpty else { return }
            Piece.write(pieces, after: &end, into: &output.areas)
            try output.wrote(size)
            pieces = []
            size = 0
        }
        try search.run(over: new) { piece in
            pieces.append(piece)
            size += piece.literal.count + 8
            if size >= Self.capacity { try close() }
        }
        try close()
        self = output
    }

    private mutating func flush() throws {
        var (runs, dictionary) = (try dictionaryRuns(), [UInt8]())
        do {
            let work = DecodingWork(free: Self.dictionaryWork)
            dictionary = try base?.dictionary(runs, work) ?? []
        } catch CompressionError.damaged(.work) {
            runs = []
        }
        let bytes = try areas.deltaSegment(effort, runs, dictionary)
        areas = SegmentAreas()
        cost = try TrialCost(effort: effort)
        total += Int64(bytes.count)
        guard total <= limit else { throw EncodingFailure.tooLarge }
        if let held { try deliver(held) }
        held = EncodedSegment(bytes: bytes, storeBytes: storeBytes)
        (size, newText, storeBytes) = (0, [:], 0)
    }

    mutating func finish() throws {
        if !areas.control.isEmpty { try flush() }
        if var last = held {
            last.isLast = true
            try deliver(last)
        }
        held = nil
    }

    /// Rows of the base that resemble those with new strings, or are around their places: of each tree in proportion to its new
    /// strings.
    private mutating func dictionaryRuns() throws -> [(tree: Int, first: Int, count: Int)] {
        guard newText.values.reduce(0, { $0 + $1.size }) >= Self.leastText else { return [] }
        let largest = newText.filter { $0.value.rows > 0 }.sorted {
            $0.value.size == $1.value.size ? $0.key < $1.key : $0.value.size < $1.value.size
        }
        .suffix(SegmentLimits.dictionaryRuns)
        let all = largest.reduce(0) { $0 + $1.value.size }
        guard all > 0 else { return [] }
        let size = all < Self.muchText ? Self.smallDictionary : Self.largeDictionary
        return try largest.map { tree, sums in
            let share = max(1024, size / max(1, all / max(1, sums.size)))
            var count = max(1, min(sums.rows, share * sums.count / max(1, sums.size), 1 << 20))
            var place = sums.place - count / 2
            if sums.size >= Self.muchText, count < sums.rows, let places = try textPlaces(of: tree) {
                count = max(1, min(sums.rows, share / places.averageSize, 1 << 20))
                place = places.best(count, for: areas.text) ?? place
            }
            return (tree, max(0, min(place, sums.rows - count)), count)
        }
    }

    private mutating func textPlaces(of tree: Int) throws -> TextPlaces? {
        if let searched, searched.tree == tree { return searched.places }
        searched = nil
        searched = try base.map { (tree, try TextPlaces(try $0.rows(of: tree))) }
        return searched?.places
    }
}
