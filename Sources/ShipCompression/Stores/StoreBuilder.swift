package import StoreFormat

/// The segments of a store back into its canonical copy. It reads what nobody vouches for.
///
/// Source: `Protocol/COLUMNS.md` section 1. Memory: one segment as decoded, two pages a level, and what sorts entries.
package final class StoreBuilder {
    /// The file that is being written, and read back for its indexes.
    package protocol Target: PageSink, PageSource {
        /// A file of its own for entries that do not fit into memory.
        func makeSpillFile() throws -> any SpillFile
    }

    private let pageSize: Int
    private let mostPages: UInt32
    private let makeTarget: (StoreSettings) throws -> any Target
    private var state = State.awaitingSettings
    private var target: (any Target)?
    private var writer: StoreWriter?
    private var tree: TreeWriter?
    private var kind = TreeKind.table
    private var integers = IntegerForm.modern
    private var schema: SchemaTrees?
    private var schemaRoots: [UInt32] = []
    /// The trees that are to come.
    private var plan: [PlannedTree] = []
    private var next = 0
    /// Derived indexes of the table that is at hand.
    private var derivedOfTable = 0
    /// Bytes of a long row that are to come.
    private var left = 0
    private var longSchemaRow: [UInt8]?
    private var longRow = RecordCheck()

    private enum State: Hashable {
        case awaitingSettings
        case inSchema
        case inTree
        /// No rows may come.
        case afterDerived
        case ended
    }

    private struct PlannedTree {
        let isTable: Bool
        let root: UInt32
        /// Of an index: the root of its table.
        let table: UInt32
    }

    /// - Parameters:
    ///   - pageSize: What the manifest says, in bytes.
    ///   - pageCount: Most pages to write: what the manifest says.
    ///   - makeTarget: Makes the file once its settings are known.
    package init(
        pageSize: Int, pageCount: UInt32, makeTarget: @escaping (StoreSettings) throws -> any Target
    ) {
        self.pageSize = pageSize
        mostPages = pageCount
        self.makeTarget = makeTarget
    }

    /// Whether the whole store has come.
    package var isComplete: Bool { state == .ended }

    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError.damaged`, and what the target throws.
    package func append(_ segment: [UInt8]) throws {
        do {
            var reader = try SegmentReader(decoding: segment)
            while !reader.isAtEnd { try takeItem(&reader) }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
    }

    private func takeItem(_ reader: inout SegmentReader) throws {
        guard let tag = ItemTag(rawValue: try reader.number()) else { throw CompressionError.damaged(.rows) }
        guard left == 0 || tag == .chunk else { throw CompressionError.damaged(.rows) }
        switch (state, tag) {
        case (.awaitingSettings, .settings): try takeSettings(&reader)
        case (.inSchema, .rows): try takeSchemaRows(try reader.rows())
        case (.inTree, .rows): try takeRows(try reader.rows())
        case (.inSchema, .longRow), (.inTree, .longRow): try beginLongRow(&reader)
        case (.inSchema, .chunk), (.inTree, .chunk): try takeChunk(try reader.bytes())
        case (.inSchema, .table), (.inTree, .table), (.afterDerived, .table): try beginTree(.table)
        case (.inSchema, .entries), (.inTree, .entries), (.afterDerived, .entries): try beginTree(.index)
        case (.inTree, .derived), (.afterDerived, .derived): try derive(try IndexShape(&reader))
        case (.inSchema, .end), (.inTree, .end), (.afterDerived, .end): try finish()
        case (.awaitingSettings, _), (.inSchema, _), (.inTree, _), (.afterDerived, _), (.ended, _):
            throw CompressionError.damaged(.rows)
        }
    }

    private func takeSettings(_ reader: inout SegmentReader) throws {
        var numbers: [UInt32] = []
        for _ in 0..<10 {
            guard let number = UInt32(exactly: try reader.number()) else { throw CompressionError.damaged(.rows) }
            numbers.append(number)
        }
        let settings = try StoreSettings(
            pageSize: Int(numbers[0]), reservedBytes: Int(numbers[1]), schemaFormat: numbers[2], cacheSize: numbers[3],
            hasAutoVacuum: numbers[4] == 1, textEncoding: numbers[5], userVersion: numbers[6],
            incrementalVacuum: numbers[7], applicationID: numbers[8])
        guard settings.pageSize == pageSize, numbers[4] <= 1, numbers[9] <= SchemaTrees.most else {
            throw CompressionError.damaged(.rows)
        }
        integers = settings.integers
        let target = try makeTarget(settings)
        self.target = target
        let writer = try StoreWriter(settings, treeCount: Int(numbers[9]), mostPages: mostPages, sink: target)
        self.writer = writer
        schema = SchemaTrees(textEncoding: settings.textEncoding)
        tree = writer.tree(.table, root: 1)
        kind = .table
        state = .inSchema
    }

    // MARK: Rows

    private func takeSchemaRows(_ rows: RowGroup) throws {
        try check(rows)
        var start = 0
        for end in rows.ends {
            try schema?.add(rows.records.span.extracting(start..<end))
            start = end
        }
        try takeRows(rows)
    }

    /// Whether the places of the records are in a row, and none is long.
    private func check(_ rows: RowGroup) throws {
        var start = 0
        for end in rows.ends {
            guard end >= start, end - start <= CanonicalForm.longestHeldRecord else {
                throw CompressionError.damaged(.rows)
            }
            start = end
        }
        guard start == rows.records.count else { throw CompressionError.damaged(.rows) }
    }

    private func takeRows(_ rows: RowGroup) throws {
        try check(rows)
        guard var tree = tree.take(), (rows.rowids == nil) == (kind == .index), !rows.ends.isEmpty else {
            throw CompressionError.damaged(.rows)
        }
        var start = 0
        let records = rows.records.span
        if let rowids = rows.rowids {
            guard rowids.count == rows.ends.count else { throw CompressionError.damaged(.rows) }
            for (rowid, end) in zip(rowids, rows.ends) {
                try tree.append(records.extracting(start..<end), rowid: rowid)
                start = end
            }
        } else {
            for end in rows.ends {
                try tree.append(records.extracting(start..<end))
                start = end
            }
        }
        self.tree = consume tree
    }

    private func beginLongRow(_ reader: inout SegmentReader) throws {
        let rowid = kind == .table ? try reader.number() : 0
        let size = try reader.number()
        guard size > UInt64(CanonicalForm.longestHeldRecord), size <= UInt64(Int32.max) else {
            throw CompressionError.damaged(.rows)
        }
        if state == .inSchema {
            guard size <= UInt64(SchemaTrees.longestRow) else { throw CompressionError.damaged(.rows) }
            longSchemaRow = []
        }
        left = Int(size)
        longRow = RecordCheck()
        try tree?.beginRecord(size: left, rowid: Int64(bitPattern: rowid >> 1 ^ (0 &- (rowid & 1))))
    }

    private func takeChunk(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty, bytes.count <= left else { throw CompressionError.damaged(.rows) }
        left -= bytes.count
        longSchemaRow?.append(contentsOf: bytes)
        guard longRow.take(bytes.span, integers) else { throw CompressionError.damaged(.rows) }
        try tree?.extendRecord(bytes.span)
        guard left == 0 else { return }
        guard longRow.isCanonical else { throw CompressionError.damaged(.rows) }
        try tree?.endRecord()
        if let row = longSchemaRow {
            longSchemaRow = nil
            try schema?.add(row.span)
        }
    }

    // MARK: Trees

    private func beginTree(_ kind: TreeKind) throws {
        try endTree()
        guard next < plan.count, let writer else { throw CompressionError.damaged(.rows) }
        // A table WITHOUT ROWID is a tree of entries; an index is never one of rows.
        guard plan[next].isTable || kind == .index else { throw CompressionError.damaged(.rows) }
        tree = writer.tree(kind, root: plan[next].root)
        self.kind = kind
        if plan[next].isTable { derivedOfTable = 0 }
        next += 1
        state = .inTree
    }

    private func endTree() throws {
        if var tree = tree.take() { try tree.end() }
        if state == .inSchema { try planTrees() }
    }

    /// The schema has come: which trees follow, and whether it names the roots that they have.
    private func planTrees() throws {
        guard let schema, let writer, schema.count + 1 == writer.roots.count else {
            throw CompressionError.damaged(.rows)
        }
        self.schema = nil
        for table in try schema.inOrder() {
            plan.append(PlannedTree(isTable: true, root: table.tree.root, table: 0))
            plan += table.indexes.map { PlannedTree(isTable: false, root: $0.root, table: table.tree.root) }
            for tree in [table.tree] + table.indexes where writer.roots[tree.index] != tree.root {
                throw CompressionError.damaged(.rows)
            }
        }
    }

    private func derive(_ shape: IndexShape) throws {
        try endTree()
        derivedOfTable += 1
        guard next < plan.count, !plan[next].isTable, derivedOfTable <= IndexShape.mostOfTable, let writer, let target
        else { throw CompressionError.damaged(.rows) }
        let geometry = PageGeometry(writer.settings)
        let tableKind = try TreeReader.kind(of: plan[next].table, in: target, geometry)
        guard tableKind == .table || !shape.parts.contains(where: { $0.source == .rowid }) else {
            throw CompressionError.damaged(.rows)
        }
        var reader = try TreeReader(target, geometry, root: plan[next].table, kind: tableKind)
        // Entries that the file has no room for are not sorted first.
        var room = Int64(mostPages - min(mostPages, writer.pageCount) + 1) * Int64(geometry.usableSize)
        var sorter = EntrySorter(shape) { try target.makeSpillFile() }
        var row = IndexedRow()
        var header: [UInt8] = []
        while let cell = try reader.next() {
            guard try row.read(cell, from: reader) else { throw CompressionError.damaged(.rows) }
            let record = row.record
            let isWhole = try sorter.add { bytes in
                let start = bytes.count
                let isWhole = IndexEntry.append(
                    of: record.span, row.columns, rowid: cell.rowid, shape, integers, header: &header, to: &bytes)
                room -= Int64(bytes.count - start)
                return isWhole
            }
            guard isWhole, room >= 0 else { throw CompressionError.damaged(.rows) }
        }
        var tree = writer.tree(.index, root: plan[next].root)
        try sorter.drain { entry in try tree.append(entry) }
        try tree.end()
        next += 1
        state = .afterDerived
    }

    private func finish() throws {
        try endTree()
        guard next == plan.count, let writer else { throw CompressionError.damaged(.rows) }
        try writer.finish()
        guard writer.pageCount == mostPages else { throw CompressionError.damaged(.rows) }
        state = .ended
    }
}

extension IndexShape {
    fileprivate init(_ reader: inout SegmentReader) throws {
        let count = try reader.number()
        guard (1...UInt64(Self.mostParts)).contains(count) else { throw CompressionError.damaged(.rows) }
        var parts: [Part] = []
        for _ in 0..<count {
            let number = try reader.number()
            guard let collation = Collation(rawValue: UInt8(truncatingIfNeeded: number >> 1 & 3)),
                number >> 3 <= UInt64(Self.mostParts)
            else { throw CompressionError.damaged(.rows) }
            let source: Source = number >> 3 == 0 ? .rowid : .value(Int(number >> 3) - 1)
            parts.append(Part(source, collation, number & 1 == 1 ? .descending : .ascending))
        }
        self.init(parts)
    }
}
