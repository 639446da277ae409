/// The canonical form of a compact copy.
///
/// Source: `Protocol/CANONICAL.md`.
package enum CanonicalForm {
    /// Longest record, in bytes, that is held; longer ones go through piece by piece.
    package static let longestHeldRecord = 256 * 1024

    /// Reads a compact copy and writes its canonical form.
    ///
    /// - Throws: `StoreFlaw` if it has none; what `pages` and `sink` throw.
    package static func write(of pages: any PageSource, to sink: any PageSink) throws {
        var first = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try pages.read(1, into: &first)
        let settings = try StoreSettings(decoding: first)
        try checkCounts(of: first, pages.pageCount)
        let copy = CanonicalCopy(pages, settings)
        let trees = try copy.schema()
        let writer = try StoreWriter(settings, treeCount: trees.count, sink: sink)
        try copy.writeSchema(to: writer)
        for table in try trees.inOrder() {
            try copy.write(table.tree, to: writer)
            for index in table.indexes { try copy.write(index, to: writer) }
        }
        try copy.checkThatAllIsUsed()
        try writer.finish()
    }

    /// What the header says of the number of pages.
    private static func checkCounts(of header: [UInt8], _ pageCount: UInt32) throws(StoreFlaw) {
        func word(_ offset: Int) -> UInt32 { header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        guard word(28) == pageCount else { throw .pageCount(pageCount, declared: word(28)) }
        guard word(32) == 0, word(36) == 0 else { throw .unusedPages(Int(word(36))) }
    }
}

/// One run of the above.
private struct CanonicalCopy {
    private let pages: any PageSource
    private let settings: StoreSettings
    private let geometry: PageGeometry
    private let use: PageUse

    init(_ pages: any PageSource, _ settings: StoreSettings) {
        self.pages = pages
        self.settings = settings
        geometry = PageGeometry(settings)
        use = PageUse(pageCount: pages.pageCount)
    }

    func schema() throws -> SchemaTrees {
        var trees = SchemaTrees(textEncoding: settings.textEncoding)
        try forEachSchemaRow(use: use) { _, record in try trees.add(record) }
        return trees
    }

    func writeSchema(to writer: StoreWriter) throws {
        var tree = writer.tree(.table, root: 1)
        var named = 0
        try forEachSchemaRow(use: nil) { rowid, record in
            guard let row = SchemaRow(record) else { return }
            if row.root != 0 { named += 1 }
            try tree.append(row.encoded(from: record, root: writer.roots[named], settings.integers).span, rowid: rowid)
        }
        try tree.end()
    }

    private func forEachSchemaRow(use: PageUse?, _ body: (Int64, Span<UInt8>) throws -> Void) throws {
        var reader = try TreeReader(pages, geometry, root: 1, kind: .table, use: use)
        var record: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= SchemaTrees.longestRow else { throw StoreFlaw.record(page: cell.page) }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            try body(cell.rowid, record.span)
        }
    }

    func write(_ tree: SchemaTrees.Tree, to writer: StoreWriter) throws {
        let kind = try TreeReader.kind(of: tree.root, in: pages, geometry)
        // An index is never a table's tree; a table WITHOUT ROWID is an index's.
        guard tree.isTable || kind == .index else { throw StoreFlaw.page(tree.root, .type(TreeKind.table.leafType)) }
        var reader = try TreeReader(pages, geometry, root: tree.root, kind: kind, use: use)
        var target = writer.tree(kind, root: writer.roots[tree.index])
        var record: [UInt8] = []
        var canonical: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else {
                try writeLong(cell, of: reader, to: &target)
                continue
            }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            if CanonicalRecord.judge(record.span, settings.integers) == .canonical {
                try target.append(record.span, rowid: cell.rowid)
                continue
            }
            canonical.removeAll(keepingCapacity: true)
            guard CanonicalRecord.append(record.span, settings.integers, to: &canonical) else {
                throw StoreFlaw.record(page: cell.page)
            }
            try target.append(canonical.span, rowid: cell.rowid)
        }
        try target.end()
    }

    private func writeLong(
        _ cell: TreeCell, of reader: TreeReader, to target: inout TreeWriter
    ) throws {
        // Read twice: its pages are noted the first time alone.
        let record = try LongRecord(of: cell, in: reader, settings.integers)
        try target.beginRecord(size: record.size, rowid: cell.rowid)
        try record.write(cell, in: reader.unnoted) { piece in try target.extendRecord(piece) }
        try target.endRecord()
    }

    func checkThatAllIsUsed() throws {
        var setAside = geometry.lockPage <= pages.pageCount ? 1 : 0
        if geometry.hasAutoVacuum, pages.pageCount >= 2 {
            let period = UInt32(geometry.usableSize / 5 + 1)
            setAside += Int((pages.pageCount - 2) / period + 1)
            // The one that gave way to the lock page may be beyond the end.
            let last = geometry.pointerMap(of: pages.pageCount)
            if last.page > pages.pageCount { setAside -= 1 }
        }
        let unused = Int(pages.pageCount) - setAside - use.count
        guard unused == 0 else { throw StoreFlaw.unusedPages(unused) }
    }
}
