import ShipCompression
import StoreFormat

/// Writes the parts of one tree: the second of two passes over all rows.
///
/// Source: `Protocol/DELTA.md` section 4.
struct TreeEncoder {
    /// Most events, and most new or edited rows, of a part.
    private static let mostRows = 32_768
    /// How many of the last unmatched rows of the base a new row is compared with.
    private static let passedRows = 12
    /// How many rows of the base may be passed over, at least, for one that a new row resembles.
    private static let nearRows = 64
    /// Where a new row costs no more than this part of what it costs alone, no other row of the base is looked for.
    private static let enoughPart = 8
    /// An event counts as many bytes: a segment of events alone must end, too.
    private static let eventSize = 8
    /// A shorter row is not made of the bytes of a long one.
    private static let leastPieced = 1024

    private let comparison: TreeComparison
    private let baseTree: Int?
    private let kind: TreeKind
    private let settings: StoreSettings
    /// Reads rows of the base from any place.
    private var source: DeltaRows?
    /// Reads rows of the result from any place.
    private var result: DeltaRows
    private var head: TreeHead?
    private let countsRowids: Bool
    /// Knows which rows are leaves that follow from the content of a full-text index.
    private let fullText: FullTextSource?
    /// The rowid of the last leaf that follows.
    private var lastLeaf: Int64 = 0
    /// Whether rows of the base may be used in their order only.
    private let isForward: Bool

    private var part = TreePart<EditEncoder>()
    private var literalRowids: [Int64] = []
    private var countedRowids = true
    private var size = 0
    /// Bytes of new strings.
    private var text = 0
    private var textPlace: Int?
    /// Rows that stay, since the last event.
    private var copies = 0
    /// The place in the base after the row that was used last.
    private var cursor = 0
    /// The place in the base up to which no row is used in its turn any more.
    private var joined = 0
    private var shift: Int64 = 0
    private var lastRowid: Int64 = 0
    private var passed: [DeltaRow] = []
    /// The search in the row of the base that was searched last: many new rows may be compared with one long row.
    private var searched: (place: Int, search: PieceSearch)?
    /// Of the base, once a long row was not like that of its key.
    private var longRows: TextPlaces?
    private var run = 0
    private var scratch = DeltaRow()

    init(
        _ comparison: TreeComparison, _ head: TreeHead, baseTree: Int?, source: DeltaRows?, result: DeltaRows,
        _ settings: StoreSettings, following fullText: FullTextSource? = nil
    ) {
        self.comparison = comparison
        self.head = head
        self.baseTree = baseTree
        kind = result.kind
        self.source = source
        self.result = result
        self.settings = settings
        countsRowids = head.countsRowids
        self.fullText = fullText
        isForward = comparison.isForward
    }

    /// - Parameter join: At the first row.
    mutating func write(_ join: some RowSteps, to output: inout DeltaOutput) throws {
        var join = join
        while let step = try join.next() {
            if step == .sameLeaf {
                joined = join.commonPlaces.old + join.common.count
                copyLeaf(join.common.count, lastRowid: join.common.lastRowid, from: join.commonPlaces.old)
                continue
            }
            if step != .new {
                joined = join.old.place + 1
                if step != .same { pass(join.old) }
            }
            guard step != .old else { continue }
            if let fullText, try takeLeaf(join.new, fullText, &output) { continue }
            try take(step, join.new, join.old, &output)
            if size >= DeltaOutput.capacity || text >= output.mostText || part.events.count >= Self.mostRows
                || part.edits.count + literalRowids.count >= Self.mostRows
            {
                try close(&output)
            }
        }
        try write(leaves: fullText?.end(), &output)
        part.isLast = true
        if copies > 0 {
            if cursor < comparison.baseCount {
                append(.skip, jump: comparison.baseCount - cursor, shift: 0)
            }
            copies = 0
            part.copiesRest = true
        }
        try close(&output)
    }

    private mutating func pass(_ row: DeltaRow) {
        passed.append(row)
        if passed.count > Self.passedRows { passed.removeFirst() }
    }

    // MARK: Rows

    private mutating func take(_ step: RowStep, _ new: DeltaRow, _ old: DeltaRow, _ output: inout DeltaOutput) throws {
        let runs = comparison.runs
        while run < runs.count, Int(runs[run].new) + Int(runs[run].count) <= new.place { run += 1 }
        if run < runs.count, Int(runs[run].new) <= new.place, step != .same {
            let place = Int(runs[run].old) + new.place - Int(runs[run].new)
            return try copy(from: place, rowid: nil, new)
        }
        if step == .same { return try copy(from: old.place, rowid: old.rowid, new) }
        if new.isLong { return try writeLong(new, try source(of: new, step, old), &output) }
        guard let values = DeltaValue.values(of: new.record) else { throw StoreFlaw.record(page: 0) }
        if let (place, rowid, before) = try bestRow(step, values, old) {
            try edit(place, rowid, before, new, values)
        } else if comparison.hasLongRowsGone, new.size >= Self.leastPieced, let old = try longest(step, old),
            old.isLong, try isMostly(new, of: old)
        {
            try writeLong(new, old, &output)
        } else {
            literal(new, values)
        }
    }

    /// - Parameter known: The rowid of the row in the base, if it is known.
    private mutating func copy(from place: Int, rowid known: Int64?, _ new: DeltaRow) throws {
        let shift = try shift(of: new, from: place, known)
        if place != cursor || shift != 0 { append(.skip, jump: place - cursor, shift: shift) }
        use(place, new)
        copies += 1
    }

    /// Copies rows that both sides have. It is not called where rowids count up.
    private mutating func copyLeaf(_ count: Int, lastRowid: Int64, from place: Int) {
        if place != cursor || shift != 0 { append(.skip, jump: place - cursor, shift: 0 &- shift) }
        copies += count
        cursor = place + count
        self.lastRowid = lastRowid
        if isForward { passed.removeAll { $0.place < cursor } }
    }

    /// The difference of the rowid from the expected one.
    private mutating func shift(of new: DeltaRow, from place: Int, _ known: Int64?) throws -> Int64 {
        guard kind == .table else { return 0 }
        if countsRowids { return new.rowid &- lastRowid &- 1 }
        let rowid: Int64
        if let known {
            rowid = known
        } else {
            rowid = try row(at: place).rowid
        }
        return new.rowid &- rowid &- shift
    }

    private mutating func row(at place: Int) throws -> DeltaRow {
        var row = DeltaRow()
        guard var rows = source.take() else { throw EncodingFailure.unsuitable }
        guard try rows.move(to: place), try rows.next(&row) else { throw EncodingFailure.unsuitable }
        source = rows
        return row
    }

    private mutating func use(_ place: Int, _ new: DeltaRow) {
        cursor = place + 1
        lastRowid = new.rowid
        if isForward { passed.removeAll { $0.place < cursor } }
    }

    private mutating func append(_ kind: TreeEvent.Kind, jump: Int, shift: Int64) {
        if !countsRowids, kind != .literal, kind != .long { self.shift &+= shift }
        part.events.append(TreeEvent(copies: copies, kind: kind, count: 1, jump: jump, shift: shift))
        size += Self.eventSize
        copies = 0
        cursor += jump
    }

    // MARK: Edits

    /// The row of the base from which a new row is made with the fewest bytes; `nil` if no row helps.
    private mutating func bestRow(
        _ step: RowStep, _ values: [DeltaValue], _ old: DeltaRow
    ) throws -> (place: Int, rowid: Int64, values: [DeltaValue])? {
        var best: (place: Int, rowid: Int64, values: [DeltaValue])?
        var least = values.cost
        var seen: Set<Int> = []
        func consider(_ row: DeltaRow, _ cursor: Int, saving leastSaved: Int = 0) {
            guard seen.insert(row.place).inserted, !row.isLong, let before = DeltaValue.values(of: row.record) else {
                return
            }
            let cost = values.cost(from: before) + (row.place == cursor ? 0 : row.place > cursor ? 1 : 3)
            if cost + leastSaved < least { (least, best) = (cost, (row.place, row.rowid, before)) }
        }
        let enough = values.cost / Self.enoughPart
        if step == .changed { consider(old, cursor) }
        for row in passed where least > enough && (row.place >= cursor || !isForward) { consider(row, cursor) }
        guard !isForward || kind == .table, least > enough else { return best }
        // What is passed over can be used no more: it is little, where the rows come in their order.
        let mostPassed = max(Self.nearRows, (joined - cursor) / 8)
        let reached =
            isForward ? cursor..<max(cursor, min(joined, cursor + mostPassed + 1)) : 0..<comparison.baseCount
        for place in comparison.values.places(sharing: values, near: cursor, in: reached) where least > enough {
            consider(try row(at: place), cursor, saving: isForward ? values.cost / 2 : 0)
        }
        return best
    }

    private mutating func edit(
        _ place: Int, _ rowid: Int64, _ before: [DeltaValue], _ new: DeltaRow, _ values: [DeltaValue]
    ) throws {
        let shift = try shift(of: new, from: place, rowid)
        noteText(
            at: place,
            values.cost(from: before) > 12
                ? values.indices.reduce(0) { sum, column in
                    guard let string = values[column].string, column >= before.count || before[column] != values[column]
                    else {
                        return sum
                    }
                    guard let old = column < before.count ? before[column].string : nil else {
                        return sum + string.count
                    }
                    return sum + Splice(from: old, to: string).inserted.count
                } : 0)
        if copies == 0, place == cursor, shift == 0, let last = part.events.last, last.kind == .edit {
            part.events[part.events.count - 1].count += 1
        } else {
            append(.edit, jump: place - cursor, shift: shift)
        }
        part.edits.append(before, values)
        // Values take more memory than their record.
        size += new.size + 8 * values.count
        use(place, new)
    }

    private mutating func literal(_ new: DeltaRow, _ values: [DeltaValue]) {
        noteText(at: cursor, values.reduce(0) { $0 + ($1.string?.count ?? 0) })
        if copies == 0, let last = part.events.last, last.kind == .literal {
            part.events[part.events.count - 1].count += 1
        } else {
            append(.literal, jump: 0, shift: 0)
        }
        part.literals.records += new.record
        part.literals.ends.append(part.literals.records.count)
        if new.rowid != lastRowid &+ 1 { countedRowids = false }
        literalRowids.append(new.rowid)
        lastRowid = new.rowid
        size += new.size
    }

    private mutating func noteText(at place: Int, _ count: Int) {
        guard count > 0 else { return }
        if textPlace == nil { textPlace = place }
        text += count
    }

    // MARK: Parts

    /// - Parameter ending: Numbers that belong to the last event; they are in the same segment.
    private mutating func close(_ output: inout DeltaOutput, ending: [UInt64] = []) throws {
        if kind == .table, !countedRowids { part.literals.rowids = literalRowids }
        let hasBase = comparison.baseCount > 0
        try output.encode { effort, cost, areas throws(CompressionError) in
            var effort = effort
            effort.hasBase = hasBase
            areas.unsigned(DeltaTag.part.rawValue)
            head?.write(into: &areas)
            try part.write(settings.integers, effort, cost, into: &areas)
            for number in ending { areas.unsigned(number) }
        }
        head = nil
        output.noteText(
            text, ofRows: part.edits.count + part.literals.ends.count, in: baseTree, at: textPlace ?? cursor,
            rows: comparison.baseCount)
        let written = size
        (part, literalRowids, countedRowids, size, text, textPlace) = (TreePart<EditEncoder>(), [], true, 0, 0, nil)
        try output.wrote(written)
    }

    // MARK: Leaves

    /// - Returns: Whether the row is a leaf that follows. What has to come before it is written.
    private mutating func takeLeaf(
        _ new: DeltaRow, _ fullText: FullTextSource, _ output: inout DeltaOutput
    ) throws -> Bool {
        let (follows, item) =
            new.isLong ? (false, fullText.end()) : try fullText.take(rowid: new.rowid, new.record.span)
        try write(leaves: item, &output)
        if follows { lastLeaf = new.rowid }
        return follows
    }

    /// Writes leaves, after the rows before them.
    private mutating func write(leaves: [UInt64]?, _ output: inout DeltaOutput) throws {
        guard let leaves else { return }
        if copies > 0 { append(.skip, jump: 0, shift: 0) }
        if head != nil || !part.events.isEmpty { try close(&output) }
        output.write { areas in for number in [DeltaTag.leaves.rawValue] + leaves { areas.unsigned(number) } }
        lastRowid = lastLeaf
        try output.wrote(leaves.count)
    }

    // MARK: Long rows

    /// The row of the base that a long row is made of: that of its key, or of several the one that has most in common with it. A table with
    /// rows like these has no merged index, so the place may go back afterwards.
    private mutating func source(of new: DeltaRow, _ step: RowStep, _ old: DeltaRow) throws -> DeltaRow? {
        if step == .changed, try isMostly(new, of: old) { return old }
        guard let rows = source else { return nil }
        if longRows == nil {
            var rows = rows
            _ = try rows.move(to: 0)
            longRows = try TextPlaces(longRows: rows)
        }
        return try longRows?.row(like: try bytes(ofNew: new)).map { try row(at: $0) } ?? longest(step, old)
    }

    /// The row of the base that a long row is made of, or one that was long: of entries, which have no rowids to tell, the longest one
    /// near it has most to copy.
    private mutating func longest(_ step: RowStep, _ old: DeltaRow) throws -> DeltaRow? {
        guard step != .changed else { return old }
        var rows = passed.filter { $0.place >= cursor || !isForward }
        if kind == .index, source != nil {
            rows += try (cursor..<min(cursor + Self.passedRows, comparison.baseCount)).map { try row(at: $0) }
        }
        return rows.max { $0.size < $1.size }
    }

    private mutating func search(in old: DeltaRow) throws -> PieceSearch {
        if let searched, searched.place == old.place { return searched.search }
        searched = nil
        guard var rows = source.take() else { throw EncodingFailure.unsuitable }
        guard try rows.move(to: old.place), try rows.next(&scratch), let places = try rows.places() else {
            throw EncodingFailure.unsuitable
        }
        source = rows
        let search = try PieceSearch(RecordBytes(places))
        searched = (old.place, search)
        return search
    }

    private mutating func bytes(ofNew row: DeltaRow) throws -> RecordBytes {
        guard try result.move(to: row.place), try result.next(&scratch), let places = try result.places() else {
            throw EncodingFailure.unsuitable
        }
        return RecordBytes(places)
    }

    /// Whether at least half of a row comes from a long row of the base, so that it pays to copy the pieces.
    private mutating func isMostly(_ new: DeltaRow, of old: DeltaRow) throws -> Bool {
        var literals = 0
        let search = try search(in: old)
        try search.run(over: try bytes(ofNew: new)) { literals += $0.literal.count }
        return literals < new.size / 2
    }

    /// Writes a row that is long, or made of a long one, by a row of the base that resembles it.
    private mutating func writeLong(_ new: DeltaRow, _ old: DeltaRow?, _ output: inout DeltaOutput) throws {
        let search = try old.map { try self.search(in: $0) } ?? PieceSearch(RecordBytes(nil))
        if let old {
            append(.long, jump: old.place - cursor, shift: try shift(of: new, from: old.place, old.rowid))
            use(old.place, new)
        } else {
            append(.long, jump: 0, shift: kind == .table ? new.rowid &- lastRowid &- 1 : 0)
            lastRowid = new.rowid
        }
        try close(&output, ending: [UInt64(new.size), old == nil ? 0 : 1])
        try output.write(try bytes(ofNew: new), by: search)
    }
}
