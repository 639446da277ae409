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
    /// With less text, a segment that takes a smaller part of the base's bytes is not worth a search in all of it.
    private static let searchedPart: Int64 = 8192
    /// With fewer bytes of new strings a dictionary does not pay.
    private static let leastText = 40
    /// Most bytes of new strings of a segment, where the base has more than a dictionary holds: rows that came together have their like
    /// in the base near each other, most often.
    private static let mostText = 1 << 17

    private let base: DeltaStore?
    private let effort: SegmentEffort
    private let limit: Int64
    private let deliver: (EncodedSegment) throws -> Void
    /// The current segment at the effort, and at others that may take fewer bytes.
    private var drafts: [Draft]
    /// Bytes of rows in the current segment.
    private var size = 0
    /// For each tree of the base: bytes of new strings in the current segment, the number of rows with them, the place in the base
    /// where the first of them belongs, and the number of rows of the tree.
    private var newText: [Int?: (size: Int, count: Int, place: Int, rows: Int)] = [:]
    /// Of the base, once they were looked for.
    private var places: TextPlaces?
    /// The last full segment. It is delivered when the next is full, or at the end as the last.
    private var held: EncodedSegment?
    private var total: Int64 = 0
    /// Bytes of the result that the current segment stands for.
    var storeBytes: Int64 = 0

    /// The current segment as one effort writes it.
    private struct Draft {
        let effort: SegmentEffort
        /// Its budgets are for one segment.
        let cost: TrialCost
        var areas = SegmentAreas()

        static func all(_ effort: SegmentEffort) throws -> [Draft] {
            try ([effort] + effort.others).map { Draft(effort: $0, cost: try TrialCost(effort: $0)) }
        }
    }

    init(
        base: DeltaStore?, _ effort: SegmentEffort, limit: Int64,
        deliver: @escaping (EncodedSegment) throws -> Void
    ) throws {
        self.base = base
        self.effort = effort
        self.limit = limit
        self.deliver = deliver
        drafts = try Draft.all(effort)
    }

    /// Writes to the current segment what is the same at each effort.
    mutating func write(_ body: (inout SegmentAreas) -> Void) {
        for draft in drafts.indices { body(&drafts[draft].areas) }
    }

    /// Encodes values into the current segment, at each effort.
    mutating func encode(
        _ body: (SegmentEffort, TrialCost, inout SegmentAreas) throws(CompressionError) -> Void
    ) throws(CompressionError) {
        for draft in drafts.indices { try body(drafts[draft].effort, drafts[draft].cost, &drafts[draft].areas) }
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
        write { areas in
            areas.unsigned(flags)
            if isOther { new.settings.writeChanges(from: settings, into: &areas) }
            if change != 0 { areas.signed(Int64(change)) }
        }
    }

    /// Writes that trees are as in the base.
    mutating func write(same count: Int) {
        guard count > 0 else { return }
        write { areas in
            areas.unsigned(DeltaTag.same.rawValue)
            areas.count(count - 1)
        }
    }

    /// Writes that an index follows from its table.
    mutating func write(derived shape: IndexShape) throws {
        write { areas in for number in [DeltaTag.derived.rawValue] + shape.numbers { areas.unsigned(number) } }
        try wrote(shape.parts.count)
    }

    /// Writes that the next tree comes after all others.
    ///
    /// - Parameter pages: That it has beside its root.
    mutating func write(later pages: Int) {
        write { areas in
            areas.unsigned(DeltaTag.later.rawValue)
            areas.count(pages)
        }
    }

    /// Notes that rows have new strings, which the base may have similar ones of.
    ///
    /// - Parameters:
    ///   - size: Of the strings, in bytes.
    ///   - count: Rows.
    ///   - tree: Of the base; `nil` if the rows have none there.
    ///   - place: Where the rows belong in the tree.
    ///   - rows: Of the tree.
    mutating func noteText(_ size: Int, ofRows count: Int, in tree: Int?, at place: Int, rows: Int) {
        guard size > 0 else { return }
        newText[tree, default: (0, 0, place, rows)].size += size
        newText[tree]?.count += count
    }

    /// Bytes of new strings at which a segment is full.
    var mostText: Int { baseSize > 4 * Int64(SegmentLimits.dictionarySize) ? Self.mostText : .max }

    /// In bytes.
    private var baseSize: Int64 { base.map { Int64($0.pages.pageCount) * Int64($0.geometry.pageSize) } ?? 0 }

    /// Notes that items with so many bytes of rows were written, and ends the segment if it is full.
    mutating func wrote(_ bytes: Int) throws {
        size += bytes
        let written = drafts[0].areas.size
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
            let areas = Piece.areas(pieces, after: &end)
            output.write { $0.append(areas) }
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
        let bytes = try encoded()
        drafts = try Draft.all(effort)
        total += Int64(bytes.count)
        guard total <= limit else { throw EncodingFailure.tooLarge }
        if let held { try deliver(held) }
        held = EncodedSegment(bytes: bytes, storeBytes: storeBytes)
        (size, newText, storeBytes) = (0, [:], 0)
    }

    /// The current segment in the fewest bytes.
    private mutating func encoded() throws -> [UInt8] {
        var encodings = DeltaEncodings(effort)
        for draft in drafts { try encodings.add(draft.areas, draft.effort) }
        let text = newText.values.reduce(0) { $0 + $1.size }
        guard let base, text >= Self.leastText else { return try encodings.smallest(effort) }
        let isMuch = text >= Self.muchText
        if !isMuch || effort.thoroughness != .small { try add(runs(near: text), to: &encodings) }
        let mayPay = Int64(encodings.size) * Self.searchedPart > baseSize && effort.thoroughness != .small
        if isMuch || mayPay {
            let places = try places ?? TextPlaces(base)
            self.places = places
            let found = places.runs(for: drafts.last?.areas.text ?? [])
            try add(found.isEmpty ? runs(near: text) : found, to: &encodings)
        }
        return try encodings.smallest(effort)
    }

    private func add(_ runs: [DictionaryRun], to encodings: inout DeltaEncodings) throws {
        let dictionary: [UInt8]
        do {
            dictionary = try base?.dictionary(runs, DecodingWork(free: Self.dictionaryWork)) ?? []
        } catch CompressionError.damaged(.work) {
            return
        }
        guard !dictionary.isEmpty else { return }
        let matches = MatchDictionary(bytes: MatchDictionary.builtInBytes + dictionary)
        for draft in drafts { try encodings.add(draft.areas, draft.effort, after: runs, dictionary, matches) }
    }

    mutating func finish() throws {
        if drafts[0].areas.size > 0 { try flush() }
        if var last = held {
            last.isLast = true
            try deliver(last)
        }
        held = nil
    }

    /// Rows of the base that are around the places of those with new strings: of each tree in proportion to its new strings.
    private func runs(near all: Int) -> [DictionaryRun] {
        let largest = newText.compactMap { tree, sums in sums.rows > 0 ? tree.map { (tree: $0, sums: sums) } : nil }
            .sorted { ($0.sums.size, $0.tree) < ($1.sums.size, $1.tree) }
        let size = all < Self.muchText ? Self.smallDictionary : Self.largeDictionary
        return largest.suffix(SegmentLimits.dictionaryRuns).map { tree, sums in
            let share = max(1024, size / max(1, all / max(1, sums.size)))
            let count = max(1, min(sums.rows, share * sums.count / max(1, sums.size), 1 << 20))
            return (tree, max(0, min(sums.place - count / 2, sums.rows - count)), count)
        }
    }
}
