import ShipCompression
package import StoreFormat

/// Takes a canonical copy apart into segments: its rows, and those entries of indexes that do not follow from rows.
///
/// Source: `Protocol/COLUMNS.md` section 1. Memory: one segment, one page a level, and one bit a page.
package struct StoreWalk {
    private let pages: CountedPages
    private let settings: StoreSettings
    private let geometry: PageGeometry
    private let use: PageUse
    private let shapes: [String: IndexShape]
    private let recorded: [Int]
    private let endsWithTables: Bool
    private let capacities: () -> (first: Int, largest: Int)
    private let deliver: (SegmentContent) throws -> Void
    /// Whether the next segment may refer to earlier ones.
    private let refers: () -> Bool
    private var search: EarlierSearch?
    private var written: WrittenPages?
    private var keys: KeySearch?
    private var isSearching = false
    private var content: SegmentContent
    /// Segments that have been delivered.
    private var closed = 0
    /// `nil` to send the leaves of full-text indexes as they are.
    private var fullText: FullTextTables?
    /// Looks for streams in the rows of a segment.
    private var streams = StreamSearch(bytes: mostInflated, pictures: nil)
    /// A tenth of a second or so.
    private static let mostInflated = 1 << 26

    /// - Parameters:
    ///   - pages: Of a canonical copy.
    ///   - shapes: The shapes of the indexes, by their names, as SQLite reports them. Of an index without a shape all entries are
    ///     sent.
    ///   - recorded: The capacities of the first segments, so that this walk makes them as an earlier walk did.
    ///   - endsWithTables: Whether the end of a table ends a segment, too.
    ///   - capacities: How large the first segment may be, and the largest. It is called for each segment that has no recorded capacity.
    ///   - refers: Whether a segment may refer to earlier ones, which takes time. It is called for each segment.
    ///   - makeSpillFile: Makes a file for sorting the words of full-text indexes; `nil` to send these as they are.
    ///   - deliver: Gets the segments in order.
    /// - Throws: `StoreFlaw`, and what `pages`, `makeSpillFile` and `deliver` throw.
    package static func run(
        over pages: any PageSource, shapes: [String: IndexShape], after recorded: [Int] = [],
        endsWithTables: Bool = false,
        capacities: @escaping () -> (first: Int, largest: Int) = { SegmentContent.capacitiesForFewBytes },
        refers: @escaping () -> Bool = { false }, makeSpillFile: (() throws -> any SpillFile)? = nil,
        deliver: @escaping (SegmentContent) throws -> Void
    ) throws {
        let settings = try StoreSettings(decoding: try pages.header)
        let geometry = PageGeometry(settings)
        var walk = StoreWalk(
            pages: CountedPages(pages), settings: settings, geometry: geometry,
            use: PageUse(pageCount: pages.pageCount), shapes: shapes, recorded: recorded,
            endsWithTables: endsWithTables, capacities: capacities, deliver: deliver, refers: refers,
            content: SegmentContent(settings.integers, capacity: recorded.first ?? capacities().first))
        if let makeSpillFile, settings.textEncoding <= 1 {
            walk.fullText = FullTextTables(
                FullTextSource.Store(
                    pages: pages, geometry: geometry, makeSpillFile: makeSpillFile,
                    budget: FullTextSource.Budget(bytes: Int(pages.pageCount) * settings.pageSize)))
        }
        try walk.run()
    }

    /// Whether all segments of a store have fewer bytes together; it goes no further than so many.
    static func takesLess(
        than size: Int, over pages: any PageSource, _ shapes: [String: IndexShape], _ effort: SegmentEffort,
        _ makeSpillFile: (() throws -> any SpillFile)? = nil
    ) throws -> Bool {
        struct Enough: Error {}
        var left = size
        do {
            try run(over: pages, shapes: shapes, makeSpillFile: makeSpillFile) { content in
                left -= try content.encoded(effort).count
                guard left > 0 else { throw Enough() }
            }
            return true
        } catch is Enough {
            return false
        }
    }

    private mutating func run() throws {
        let schema = try readSchema()
        if Int(pages.pageCount) * settings.pageSize > content.capacity {
            search = EarlierSearch(pages.pages, geometry)
            written = WrittenPages(geometry, roots: geometry.page(after: 1, by: schema.count))
        }
        isSearching = refers()
        if isSearching { keys = KeySearch(pageCount: pages.pageCount, pageSize: settings.pageSize) }
        content.add(.settings)
        for number in settings.numbers + [UInt32(schema.count)] { content.add(UInt64(number)) }
        try sendRows(of: 1, .table, use: nil)
        let trees = try schema.inOrder()
        var later: [(table: SchemaTrees.Tree, source: FullTextSource)] = []
        for (table, indexes) in trees {
            if endsWithTables { try close() }
            content.table = String(bytes: table.name[...], textEncoding: settings.textEncoding) ?? ""
            if indexes.isEmpty, later.count < TreePlan.mostLater,
                let source = try fullText?.source(of: table, among: trees.map(\.table))
            {
                content.add(.later)
                content.add(UInt64(source.pageCount))
                written?.keep(source.pages)
                later.append((table, source))
            } else {
                try send(table, indexes)
            }
        }
        for (table, source) in later {
            if endsWithTables { try close() }
            content.table = String(bytes: table.name[...], textEncoding: settings.textEncoding) ?? ""
            content.isInIndex = false
            content.add(.table)
            try sendRows(of: table.root, .table, use: use, following: source)
        }
        content.add(.end)
        content.isLast = true
        endSearch()
        content.storeBytes = pages.takeRest() * Int64(settings.pageSize)
        try deliver(content)
    }

    private mutating func readSchema() throws -> SchemaTrees {
        var trees = SchemaTrees(textEncoding: settings.textEncoding)
        try StoreTrees.forEachSchemaRow(of: pages, geometry, use: use) { _, record in
            try trees.add(record)
            fullText?.add(record)
        }
        return trees
    }

    private mutating func send(_ table: SchemaTrees.Tree, _ indexes: [SchemaTrees.Tree]) throws {
        let kind = try TreeReader.kind(of: table.root, in: pages, geometry)
        content.isInIndex = false
        written?.endTree()
        content.add(kind == .table ? .table : .entries)
        try sendRows(of: table.root, kind, use: use)
        content.isInIndex = true
        var derived = 0
        for index in indexes {
            let name = String(bytes: index.name[...], textEncoding: settings.textEncoding)
            let shape = derived < IndexShape.mostOfTable ? name.flatMap { shapes[$0] } : nil
            // The pages of the table count once, and those of the index are noted only if it is sent.
            let follows = try shape?.follows(
                try TreeReader(pages, geometry, root: index.root, kind: .index),
                from: try TreeReader(pages.pages, geometry, root: table.root, kind: kind), settings)
            written?.endTree()
            if let shape, follows == true {
                derived += 1
                content.add(.derived)
                for number in shape.numbers { content.add(number) }
            } else {
                content.add(.entries)
                try sendRows(of: index.root, .index, use: use)
            }
        }
    }

    // MARK: Rows

    /// - Parameters:
    ///   - use: Notes the pages of the tree; `nil` for a tree whose pages are noted already.
    ///   - source: Knows which rows follow from the content of a full-text index.
    private mutating func sendRows(
        of root: UInt32, _ kind: TreeKind, use: PageUse?, following source: FullTextSource? = nil
    ) throws {
        // The pages of what follows from a content are written after those of all other trees.
        let isInOrder = source == nil
        var reader = try TreeReader(pages, geometry, root: root, kind: kind, use: use)
        var group = RowGroup(rowids: kind == .table ? [] : nil)
        var columns = RecordColumns()
        while let cell = try reader.next() {
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else {
                try close(&group)
                try send(source?.end())
                try sendLong(cell, of: reader, kind, isInOrder: isInOrder)
                continue
            }
            if let source, try follows(source, cell, reader.unnoted, &group) { continue }
            let start = group.records.count
            try reader.appendRecord(of: cell, to: &group.records)
            group.ends.append(group.records.count)
            if kind == .table { group.rowids?.append(cell.rowid) }
            let keys = isInOrder && isSearching ? keys : nil
            let mayHoldStream = group.records.count - start > DeflateRecompression.shortest
            if mayHoldStream || keys != nil {
                guard columns.read(group.records.span.extracting(start..<group.records.count)) else {
                    throw StoreFlaw.record(page: cell.page)
                }
                if mayHoldStream { content.growth += growth(of: group.records[start...], columns) }
                group.records.withUnsafeBytes {
                    keys?.look(at: .init(rebasing: $0[start...]), columns, of: cell, written)
                }
            }
            if isInOrder {
                try group.records.withUnsafeBytes { try look(at: .init(rebasing: $0[start...]), of: cell) }
                written?.end(cell, kind)
            }
            if content.isFull(with: group.records.count) || group.ends.count == SegmentContent.mostRows {
                try close(&group)
            }
        }
        try close(&group)
        try send(source?.end())
    }

    /// Whether a row follows from the content of a full-text index. What has to come before it is sent.
    private mutating func follows(
        _ source: FullTextSource, _ cell: TreeCell, _ reader: TreeReader, _ group: inout RowGroup
    ) throws -> Bool {
        var record: [UInt8] = []
        try reader.appendRecord(of: cell, to: &record)
        let (follows, item) = try source.take(rowid: cell.rowid, record.span)
        if item != nil {
            try close(&group)
            try send(item)
        }
        return follows
    }

    /// Adds the item of leaves that follow from a table.
    private mutating func send(_ leaves: [UInt64]?) throws {
        guard let leaves else { return }
        content.add(leaves: leaves)
        try closeIfFull()
    }

    /// By how many bytes the streams that are blobs of a row, or stand in one, are longer when they are inflated.
    ///
    /// An encoder takes a stream apart only if its content has room in the segment. A segment that holds as many streams as have room is
    /// smaller than one in which some go as they are.
    private func growth(of record: ArraySlice<UInt8>, _ columns: RecordColumns) -> Int {
        var growth = 0
        for (place, type) in columns.types.enumerated() where type >= SerialType.firstOfVariableLength && type % 2 == 0
        {
            let value = record.startIndex + columns.starts[place]..<record.startIndex + columns.starts[place + 1]
            let inflated = streams.growth(of: record[value])
            growth += inflated > 0 ? inflated : FoundBlock.growth(of: record[value])
        }
        return growth
    }

    /// Adds the group to the segment unless it is empty, and begins another.
    private mutating func close(_ group: inout RowGroup) throws {
        guard !group.ends.isEmpty else { return }
        content.add(group, found: search?.takeFound())
        keys?.endGroup()
        group = RowGroup(rowids: group.rowids == nil ? nil : [])
        try closeIfFull()
    }

    /// Looks at a record, or at the part of one that begins at `start`, for what earlier segments have of it.
    private func look(at bytes: UnsafeRawBufferPointer, of cell: TreeCell, from start: Int = 0) throws {
        guard isSearching, let search, let written else { return }
        try search.look(at: bytes, of: cell, from: start, written)
    }

    private mutating func endSearch() {
        if let written { content.earlier = EarlierRuns(search?.endSegment() ?? [], written) }
        content.sharedKeys = keys?.endSegment(written) ?? []
        written?.endSegment()
    }

    private mutating func closeIfFull() throws {
        if content.isFull { try close() }
    }

    /// Delivers the segment, and begins another.
    private mutating func close() throws {
        content.storeBytes = pages.take() * Int64(settings.pageSize)
        endSearch()
        try deliver(content)
        closed += 1
        isSearching = refers()
        let capacity =
            closed < recorded.count ? recorded[closed] : min(capacities().largest, content.capacity * 2)
        content = content.next(capacity: capacity)
        streams = StreamSearch(bytes: Self.mostInflated, pictures: nil)
    }

    private mutating func sendLong(_ cell: TreeCell, of reader: TreeReader, _ kind: TreeKind, isInOrder: Bool) throws {
        content.add(.longRow)
        if kind == .table { content.add(UInt64(bitPattern: cell.rowid << 1 ^ cell.rowid >> 63)) }
        content.add(UInt64(cell.payloadSize))
        var chunk: [UInt8] = []
        var walk = self
        let full = SegmentContent.usualCapacity - 65_536
        var read = 0
        try reader.forEachPiece(of: cell) { piece in
            if isInOrder { try piece.withUnsafeBytes { try walk.look(at: $0, of: cell, from: read) } }
            read += piece.count
            piece.withUnsafeBufferPointer { chunk.append(contentsOf: $0) }
            guard chunk.count >= full else { return }
            walk.content.add(chunk: chunk)
            chunk = []
            try walk.closeIfFull()
        }
        if !chunk.isEmpty { walk.content.add(chunk: chunk) }
        let isInSeveral = walk.closed > closed
        self = walk
        if isInOrder { written?.end(cell, kind) }
        // What begins in earlier segments can be referred to once the row has ended, and from the next segment on.
        if isInSeveral, content.size > 0 { try close() } else { try closeIfFull() }
    }
}

/// Counts the pages that are read, for the progress display.
private final class CountedPages: PageSource {
    /// Pages that are read again here do not count.
    let pages: any PageSource
    /// Pages read since the last `take`, and those that `take` has returned.
    private var (fresh, taken) = (Int64(0), Int64(0))

    init(_ pages: any PageSource) { self.pages = pages }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        fresh += 1
        try pages.read(number, into: &page)
    }

    /// The pages read since the last call. The sum of all calls is at most the number of pages.
    func take() -> Int64 {
        defer { fresh = 0 }
        let count = min(fresh, Int64(pageCount) - taken)
        taken += count
        return count
    }

    /// The pages that no `take` has returned.
    func takeRest() -> Int64 { Int64(pageCount) - taken }
}
