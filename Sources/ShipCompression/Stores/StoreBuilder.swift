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
        guard state != .ended else { throw CompressionError.damaged(.rows) }
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
        case (.inSchema, .rows): try takeSchemaRows(try checkedRows(of: &reader))
        case (.inTree, .rows): try takeRows(try checkedRows(of: &reader))
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

    /// A group of canonical records of which none is long, one after the other.
    private func checkedRows(of reader: inout SegmentReader) throws -> RowGroup {
        let rows = try reader.rows()
        // Records that were made of columns are canonical, in the one encoding or in the other.
        let isMade = reader.madeForm == integers
        let records = rows.records.span
        var start = 0
        for end in rows.ends {
            guard end >= start, end - start <= CanonicalForm.longestHeldRecord, end <= records.count,
                isMade || CanonicalRecord.judge(records.extracting(start..<end), integers) == .canonical
            else { throw CompressionError.damaged(.rows) }
            start = end
        }
        guard start == records.count else { throw CompressionError.damaged(.rows) }
        return rows
    }

    private func takeSchemaRows(_ rows: RowGroup) throws {
        var start = 0
        for end in rows.ends {
            try schema?.add(rows.records.span.extracting(start..<end))
            start = end
        }
        try takeRows(rows)
    }

    private func takeRows(_ rows: RowGroup) throws {
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
        let index = DerivedIndex(shape, ofTable: plan[next].table, root: plan[next].root)
        try index.write(with: writer, to: target, room: mostPages - min(mostPages, writer.pageCount))
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
