package import StoreFormat

/// A canonical copy, taken apart into segments: its rows, and of its indexes what does not follow from them.
///
/// Source: `Protocol/COLUMNS.md` section 1. Memory: one segment, one page a level, and one bit a page.
package struct StoreWalk {
    /// Most rows of a group.
    private static let mostRows = 65_536

    private let pages: CountedPages
    private let settings: StoreSettings
    private let geometry: PageGeometry
    private let use: PageUse
    private let shapes: [String: IndexShape]
    private let segments: Segments
    private let deliver: (SegmentContent) throws -> Void
    private var content: SegmentContent
    /// Segments that have been handed out.
    private var closed = 0
    private var row = IndexedRow()

    /// Where a segment ends.
    package struct Segments: Sendable {
        /// How large they may be from here on: looked at for each.
        fileprivate let capacities: @Sendable () -> SegmentContent.Capacities
        /// Whether a table ends one, too.
        fileprivate let isOfOneTable: Bool
        /// Of the first ones: where they ended before, they end again.
        fileprivate let recorded: [Int]

        /// Where it is full.
        ///
        /// - Parameter recorded: Capacities of the first segments, for a walk that is to make them as one before it did.
        static func full(
            after recorded: [Int] = [], _ capacities: @escaping @Sendable () -> SegmentContent.Capacities
        ) -> Segments {
            Segments(capacities: capacities, isOfOneTable: false, recorded: recorded)
        }

        /// Each is twice as large as the one before, if it may be.
        fileprivate func capacity(_ index: Int, after last: Int?) -> Int {
            if index < recorded.count { return recorded[index] }
            let capacities = capacities()
            return last.map { min(capacities.largest, $0 * 2) } ?? capacities.first
        }

        /// Where it is full, and all may be the same.
        package static let full = Segments.full { .usual }
        /// There, and after each table.
        static let ofEachTable = Segments(capacities: { .usual }, isOfOneTable: true, recorded: [])
    }

    /// - Parameters:
    ///   - pages: Of a canonical copy.
    ///   - shapes: What the entries of indexes are made of, by the names of the indexes, as SQLite says it; an index that
    ///     is not there is sent.
    ///   - deliver: Gets one segment after the other.
    /// - Throws: `StoreFlaw`, and what `pages` and `deliver` throw.
    package static func run(
        over pages: any PageSource, shapes: [String: IndexShape], segments: Segments = .full,
        deliver: @escaping (SegmentContent) throws -> Void
    ) throws {
        var walk = try StoreWalk(pages, shapes, segments, deliver)
        try walk.run()
    }

    private init(
        _ pages: any PageSource, _ shapes: [String: IndexShape], _ segments: Segments,
        _ deliver: @escaping (SegmentContent) throws -> Void
    ) throws {
        self.pages = CountedPages(pages)
        self.shapes = shapes
        self.segments = segments
        self.deliver = deliver
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try pages.read(1, into: &header)
        settings = try StoreSettings(decoding: header)
        geometry = PageGeometry(settings)
        use = PageUse(pageCount: pages.pageCount)
        content = SegmentContent(settings.integers, capacity: segments.capacity(0, after: nil))
    }

    private mutating func run() throws {
        let schema = try readSchema()
        content.add(.settings)
        for number in [
            UInt32(settings.pageSize), UInt32(settings.reservedBytes), settings.schemaFormat, settings.cacheSize,
            settings.hasAutoVacuum ? 1 : 0, settings.textEncoding, settings.userVersion, settings.incrementalVacuum,
            settings.applicationID, UInt32(schema.count),
        ] { content.add(UInt64(number)) }
        var unchecked: [ExpectedEntries?] = []
        try sendRows(of: 1, .table, use: nil, checking: &unchecked)
        for table in try schema.inOrder() {
            if segments.isOfOneTable { try close() }
            content.table = String(bytes: table.tree.name, textEncoding: settings.textEncoding) ?? ""
            try send(table)
        }
        content.add(.end)
        content.isLast = true
        content.storeBytes = pages.takeRest() * Int64(settings.pageSize)
        try deliver(content)
    }

    private func readSchema() throws -> SchemaTrees {
        var trees = SchemaTrees(textEncoding: settings.textEncoding)
        var reader = try TreeReader(pages, geometry, root: 1, kind: .table, use: use)
        var record: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= SchemaTrees.longestRow else { throw StoreFlaw.record(page: cell.page) }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            try trees.add(record.span)
        }
        return trees
    }

    private mutating func send(_ table: SchemaTrees.Table) throws {
        let kind = try TreeReader.kind(of: table.tree.root, in: pages, geometry)
        var expected = table.indexes.map { index in
            String(bytes: index.name, textEncoding: settings.textEncoding).flatMap { shapes[$0] }
                .map(ExpectedEntries.init)
        }
        content.tree = .table
        content.add(kind == .table ? .table : .entries)
        try sendRows(of: table.tree.root, kind, use: use, checking: &expected)
        content.tree = .index
        var derived = 0
        for (index, expected) in zip(table.indexes, expected) {
            if derived < IndexShape.mostOfTable, let expected, try isAsExpected(index, expected) {
                derived += 1
                content.add(.derived)
                content.add(expected.shape)
            } else {
                content.add(.entries)
                var unchecked: [ExpectedEntries?] = []
                try sendRows(of: index.root, .index, use: use, checking: &unchecked)
            }
        }
    }

    // MARK: Rows

    /// - Parameter use: `nil` for a tree that has been read before.
    private mutating func sendRows(
        of root: UInt32, _ kind: TreeKind, use: PageUse?, checking expected: inout [ExpectedEntries?]
    ) throws {
        var reader = try TreeReader(pages, geometry, root: root, kind: kind, use: use)
        var group = RowGroup(rowids: kind == .table ? [] : nil)
        var columns = RecordColumns()
        let isChecked = expected.contains { $0 != nil }
        while let cell = try reader.next() {
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else {
                try close(&group)
                try sendLong(cell, of: reader, kind)
                if isChecked { try check(cell, of: reader.unnoted, &expected) }
                continue
            }
            let start = group.records.count
            try reader.appendRecord(of: cell, to: &group.records)
            group.ends.append(group.records.count)
            if kind == .table { group.rowids?.append(cell.rowid) }
            if isChecked {
                let record = group.records.span.extracting(start..<group.records.count)
                guard columns.read(record) else { throw StoreFlaw.record(page: cell.page) }
                for index in expected.indices {
                    expected[index]?.add(record, columns, rowid: cell.rowid, settings.integers)
                }
            }
            if content.size + group.records.count >= content.capacity || group.ends.count == Self.mostRows {
                try close(&group)
            }
        }
        try close(&group)
    }

    /// Puts a group that has rows into the segment, and begins another.
    private mutating func close(_ group: inout RowGroup) throws {
        guard !group.ends.isEmpty else { return }
        content.add(group)
        group = RowGroup(rowids: group.rowids == nil ? nil : [])
        try closeIfFull()
    }

    private mutating func closeIfFull() throws {
        if content.isFull { try close() }
    }

    /// Hands the segment out, and begins another.
    private mutating func close() throws {
        content.storeBytes = pages.take() * Int64(settings.pageSize)
        try deliver(content)
        closed += 1
        content = content.next(capacity: segments.capacity(closed, after: content.capacity))
    }

    private mutating func sendLong(_ cell: TreeCell, of reader: TreeReader, _ kind: TreeKind) throws {
        content.add(.longRow)
        if kind == .table { content.add(UInt64(bitPattern: cell.rowid << 1 ^ cell.rowid >> 63)) }
        content.add(UInt64(cell.payloadSize))
        var chunk: [UInt8] = []
        var walk = self
        let full = SegmentContent.Capacities.usual.largest - 65_536
        try reader.forEachPiece(of: cell) { piece in
            piece.withUnsafeBufferPointer { chunk.append(contentsOf: $0) }
            guard chunk.count >= full else { return }
            walk.content.add(chunk: chunk)
            chunk = []
            try walk.closeIfFull()
        }
        if !chunk.isEmpty { walk.content.add(chunk: chunk) }
        self = walk
        try closeIfFull()
    }

    // MARK: Indexes

    private mutating func check(_ cell: TreeCell, of reader: TreeReader, _ expected: inout [ExpectedEntries?]) throws {
        guard try row.read(cell, from: reader) else {
            for index in expected.indices { expected[index] = nil }
            return
        }
        let (record, columns) = (row.record, row.columns)
        for index in expected.indices {
            expected[index]?.add(record.span, columns, rowid: cell.rowid, settings.integers)
        }
    }

    /// Whether an index has the entries that follow from its table, in the order in which a consumer would put them.
    private func isAsExpected(_ index: SchemaTrees.Tree, _ expected: ExpectedEntries) throws -> Bool {
        guard expected.isWhole, settings.textEncoding <= 1 || expected.shape.isBinary else { return false }
        // Its pages are noted if it is sent. As its entries rise, and are no more than the rows, it comes to an end.
        var reader = try TreeReader(pages, geometry, root: index.root, kind: .index)
        var found = FoundEntries(expected.shape)
        var entry: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= IndexShape.longestEntry else { return false }
            entry.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &entry)
            guard found.add(entry), found.count <= expected.count else { return false }
        }
        return found.agree(with: expected)
    }
}

/// Pages of a store, counted as they are read, so that one knows how far one has come.
private final class CountedPages: PageSource {
    private let pages: any PageSource
    /// Since the last look, and before.
    private var (fresh, taken) = (Int64(0), Int64(0))

    init(_ pages: any PageSource) { self.pages = pages }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        fresh += 1
        try pages.read(number, into: &page)
    }

    /// How many were read since the last look; never more than there are in all.
    func take() -> Int64 {
        defer { fresh = 0 }
        let count = min(fresh, Int64(pageCount) - taken)
        taken += count
        return count
    }

    /// All that are left.
    func takeRest() -> Int64 { Int64(pageCount) - taken }
}

extension SegmentContent {
    /// Source: `Protocol/COLUMNS.md` section 1.3.
    fileprivate mutating func add(_ shape: IndexShape) {
        add(UInt64(shape.parts.count))
        for part in shape.parts {
            let source: UInt64 =
                switch part.source {
                case .rowid: 0
                case .value(let place): UInt64(place) + 1
                }
            add(source << 3 | UInt64(part.collation.rawValue) << 1 | (part.direction == .descending ? 1 : 0))
        }
    }
}

extension String {
    /// - Parameter textEncoding: SQLite's number for it, as in the header.
    /// - Returns: `nil` if the bytes are no text.
    init?(bytes: [UInt8], textEncoding: UInt32) {
        guard textEncoding >= 2 else {
            self.init(validating: bytes, as: UTF8.self)
            return
        }
        guard bytes.count % 2 == 0 else { return nil }
        let units = stride(from: 0, to: bytes.count, by: 2).map { index in
            textEncoding == 2
                ? UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
                : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
        self.init(validating: units, as: UTF16.self)
    }
}
