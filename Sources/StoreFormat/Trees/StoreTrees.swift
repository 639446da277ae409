/// Reads the b-trees of one store, one after the other; it meets no page twice.
package final class StoreTrees {
    package let settings: StoreSettings
    let geometry: PageGeometry
    private let pages: any PageSource
    private let use: PageUse

    /// - Throws: `StoreFlaw` for a header that cannot be, and what `pages` throws.
    package init(_ pages: any PageSource) throws {
        self.pages = pages
        settings = try StoreSettings(decoding: try pages.header)
        geometry = PageGeometry(settings)
        use = PageUse(pageCount: pages.pageCount)
    }

    /// Checks the numbers of pages in the header.
    ///
    /// - Throws: `.pageCount`, `.unusedPages`.
    func checkCounts() throws {
        let header = try pages.header
        func word(_ offset: Int) -> UInt32 { header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        guard word(28) == pages.pageCount else { throw StoreFlaw.pageCount(pages.pageCount, declared: word(28)) }
        guard word(32) == 0, word(36) == 0 else { throw StoreFlaw.unusedPages(Int(word(36))) }
    }

    /// Reads the schema. Call it once, before reading any tree.
    package func schema() throws -> SchemaTrees {
        var trees = SchemaTrees(textEncoding: settings.textEncoding)
        try Self.forEachSchemaRow(of: pages, geometry, use: use) { _, record in try trees.add(record) }
        return trees
    }

    /// Most bytes of the rows of `sqlite_schema` that are in memory to be put in another order.
    private static let mostOfSchema = 16 * 1024 * 1024

    /// Reads all rows of `sqlite_schema`. Call it once, before reading any tree, in place of `schema`.
    ///
    /// - Parameter order: The rowids of all of them.
    /// - Returns: Their records in that order.
    /// - Throws: `StoreFlaw`, also where there are other rows, or too much is in them.
    func schemaRows(inOrder order: [Int64]) throws -> [[UInt8]] {
        var records: [Int64: [UInt8]] = [:]
        var bytes = 0
        try Self.forEachSchemaRow(of: pages, geometry, use: use) { rowid, record in
            bytes += record.count
            guard bytes <= Self.mostOfSchema else { throw StoreFlaw.tooManyTrees }
            records[rowid] = record.withUnsafeBufferPointer { Array($0) }
        }
        guard records.count == order.count else { throw StoreFlaw.schemaRow(order.count) }
        return try order.map { rowid in
            guard let record = records[rowid] else { throw StoreFlaw.schemaRow(0) }
            return record
        }
    }

    /// Reads the rows of `sqlite_schema` once more.
    func forEachSchemaRow(_ body: (Int64, Span<UInt8>) throws -> Void) throws {
        try Self.forEachSchemaRow(of: pages, geometry, use: nil, body)
    }

    /// Reads the rows of `sqlite_schema` of a store, with their rowids.
    package static func forEachSchemaRow(
        of pages: any PageSource, _ geometry: PageGeometry, use: PageUse?,
        _ body: (Int64, Span<UInt8>) throws -> Void
    ) throws {
        var reader = try TreeReader(pages, geometry, root: 1, kind: .table, use: use)
        var record: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= SchemaTrees.longestRow else { throw StoreFlaw.record(page: cell.page) }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            try body(cell.rowid, record.span)
        }
    }

    /// Reads one tree.
    ///
    /// - Parameters:
    ///   - makesCanonical: Whether records are handed on in their canonical encoding, and not as they are written.
    ///   - order: Of the entries, to check that each comes after the one before; `nil` for no check.
    /// - Throws: `StoreFlaw`, with `makesCanonical` also for an unsound record; what the pages and `take`
    ///   throw.
    package func read(
        _ tree: SchemaTrees.Tree, makesCanonical: Bool, in order: IndexOrder? = nil, _ take: (TreeRows) throws -> Void
    ) throws {
        let kind = try TreeReader.kind(of: tree.root, in: pages, geometry)
        // An index is never a table's tree; a table WITHOUT ROWID is an index's.
        guard kind == .index || tree.isTable && order == nil else {
            throw StoreFlaw.page(tree.root, .type(TreeKind.table.leafType))
        }
        var reader = try TreeReader(pages, geometry, root: tree.root, kind: kind, use: use)
        try take(.begin(tree, kind))
        var (record, canonical, before): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        var chunk = CellChunk(kind)
        let form = makesCanonical ? settings.integers : nil
        while true {
            while order == nil, !chunk.isFull, try reader.enterLeaf(), chunk.copyUnchangedCells(of: &reader, form) {}
            if chunk.isFull { try chunk.hand(to: take) }
            guard let cell = try reader.next() else { break }
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else {
                guard order == nil else { throw StoreFlaw.page(cell.page, .order) }
                try chunk.hand(to: take)
                try readLong(cell, of: reader, makesCanonical: makesCanonical, take)
                continue
            }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            if makesCanonical, CanonicalRecord.isCanonical(record.span, settings.integers) != true {
                canonical.removeAll(keepingCapacity: true)
                guard CanonicalRecord.append(record.span, settings.integers, to: &canonical) else {
                    throw StoreFlaw.record(page: cell.page)
                }
                swap(&record, &canonical)
            }
            try chunk.append(record, cell.rowid, take)
            guard let order else { continue }
            guard order.comparesWholeTexts(of: record.span),
                before.isEmpty || order.compare(before.span, record.span) < 0
            else {
                throw StoreFlaw.page(cell.page, .order)
            }
            swap(&before, &record)
        }
        try chunk.hand(to: take)
        try take(.end)
    }

    private func readLong(
        _ cell: TreeCell, of reader: TreeReader, makesCanonical: Bool, _ take: (TreeRows) throws -> Void
    ) throws {
        func hand(_ piece: Span<UInt8>) throws { try take(.piece(piece.withUnsafeBufferPointer { Array($0) })) }
        if makesCanonical {
            // It is read twice, and its pages are noted only the first time.
            let record = try LongRecord(of: cell, in: reader, settings.integers)
            try take(.longCell(size: record.size, rowid: cell.rowid))
            try record.write(cell, in: reader.unnoted, to: hand)
        } else {
            try take(.longCell(size: cell.payloadSize, rowid: cell.rowid))
            try reader.forEachPiece(of: cell, hand)
        }
        try take(.endOfLongCell)
    }

    /// - Throws: `.unusedPages` if there are pages that no tree uses.
    func checkThatAllIsUsed() throws {
        var setAside = geometry.lockPage <= pages.pageCount ? 1 : 0
        if geometry.hasAutoVacuum, pages.pageCount >= 2 {
            let period = UInt32(geometry.usableSize / 5 + 1)
            setAside += Int((pages.pageCount - 2) / period + 1)
            // The pointer map page that gave way to the lock page may be beyond the end.
            let last = geometry.pointerMap(of: pages.pageCount)
            if last.page > pages.pageCount { setAside -= 1 }
        }
        let unused = Int(pages.pageCount) - setAside - use.count
        guard unused == 0 else { throw StoreFlaw.unusedPages(unused) }
    }
}

/// Gathers cells before it hands them on.
private struct CellChunk {
    private static let size = 128 * 1024

    private let kind: TreeKind
    private var bytes: [UInt8] = []
    /// Bytes in use.
    private var filled = 0
    private var count = 0
    private var cell: [UInt8] = []

    init(_ kind: TreeKind) { self.kind = kind }

    /// Whether most of it is in use.
    var isFull: Bool { filled > Self.size - Self.size / 8 }

    /// - Returns: Whether there were any.
    mutating func copyUnchangedCells(of reader: inout TreeReader, _ form: IntegerForm?) -> Bool {
        makeBytes()
        let copied = bytes.withUnsafeMutableBytes {
            reader.copyUnchangedCells(form, to: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
        }
        filled += copied.bytes
        count += copied.cells
        return copied.cells > 0
    }

    mutating func append(_ record: [UInt8], _ rowid: Int64, _ take: (TreeRows) throws -> Void) throws {
        cell.removeAll(keepingCapacity: true)
        Varint.append(UInt64(record.count), to: &cell)
        if kind == .table { Varint.append(UInt64(bitPattern: rowid), to: &cell) }
        cell.append(contentsOf: record)
        if filled + cell.count > Self.size { try hand(to: take) }
        guard cell.count <= Self.size else { return try take(.cells(cell, count: 1)) }
        makeBytes()
        bytes.replaceSubrange(filled..<(filled + cell.count), with: cell)
        filled += cell.count
        count += 1
    }

    private mutating func makeBytes() {
        if bytes.isEmpty { bytes = Array(repeating: 0, count: Self.size) }
    }

    mutating func hand(to take: (TreeRows) throws -> Void) throws {
        guard count > 0 else { return }
        bytes.removeLast(bytes.count - filled)
        let whole = bytes
        bytes = []
        let cells = count
        (filled, count) = (0, 0)
        try take(.cells(whole, count: cells))
    }
}
