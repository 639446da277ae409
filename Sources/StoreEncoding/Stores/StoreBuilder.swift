import ShipCompression
package import StoreFormat

/// Decodes the segments of a store into its canonical copy. It does not trust the segments.
///
/// Source: `Protocol/COLUMNS.md` section 1. Memory: one segment as decoded, two pages a level, and what sorts entries.
package final class StoreBuilder {
    /// The file that is written. It is read back for its indexes.
    package protocol Target: PageSink, PageSource {
        /// Makes a file for index entries that do not fit into memory.
        func makeSpillFile() throws -> any SpillFile
    }

    /// Most trees whose rows come after those of all others.
    static let mostLater = 64

    private let pageSize: Int
    private let mostPages: UInt32
    private let work: DecodingWork
    private let makeTarget: (StoreSettings) throws -> any Target
    private var state = State.awaitingSettings
    private var target: (any Target)?
    private var writer: StoreWriter?
    private var tree: TreeWriter?
    private var kind = TreeKind.table
    private var integers = IntegerForm.modern
    private var schema: SchemaTrees?
    /// All trees, once the schema has come.
    private var plan: [PlannedTree] = []
    private var next = 0
    /// Derived indexes of the current table so far.
    private var derivedOfTable = 0
    /// The trees whose rows come after those of all others, by their places in `plan`, in order.
    private var later: [(place: Int, pages: KeptPages)] = []
    /// Those of them that have begun.
    private var laterBegun = 0
    /// The leaves of the current tree that follow from another one.
    private var leaves = FullTextReader()
    /// Bytes of the current long row that have not come.
    private var left = 0
    private var longSchemaRow: [UInt8]?
    private var longRow = RecordCheck()
    /// The last page that segments may refer to: what an item makes is complete with the next one.
    private var written: UInt32 = 0

    private enum State: Hashable {
        case awaitingSettings
        case inSchema
        case inTree
        /// No rows may come.
        case afterDerived
        case ended
    }

    /// - Parameters:
    ///   - pageSize: In bytes, as the manifest says.
    ///   - pageCount: Most pages to write, as the manifest says.
    ///   - makeTarget: Makes the file once its settings are known.
    package init(
        pageSize: Int, pageCount: UInt32, _ work: DecodingWork = DecodingWork(),
        makeTarget: @escaping (StoreSettings) throws -> any Target
    ) {
        self.work = work
        self.pageSize = pageSize
        mostPages = pageCount
        self.makeTarget = makeTarget
    }

    package var isComplete: Bool { state == .ended }

    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError.damaged`, and what the target throws.
    package func append(_ segment: [UInt8]) throws {
        guard state != .ended else { throw CompressionError.damaged(.rows) }
        do {
            let last = written
            try work.measuring(segment: segment) {
                var reader = try SegmentReader(decoding: segment, work) { [writer, target, later, work] runs in
                    guard let writer, let target else { throw CompressionError.damaged(.segment) }
                    return try PageRun.bytes(
                        of: runs, in: target, writer.geometry, after: writer.roots.last ?? 1, upTo: last,
                        without: later.map(\.pages), work)
                }
                while !reader.isAtEnd { try takeItem(&reader) }
            }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
    }

    private func takeItem(_ reader: inout SegmentReader) throws {
        try work.spend(DecodingWork.item)
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
        case (.inTree, .derived), (.afterDerived, .derived): try derive(try IndexShape(fromRows: &reader))
        case (.inSchema, .later), (.inTree, .later), (.afterDerived, .later):
            try postpone(pages: try reader.count(upTo: Int(mostPages)))
        case (.inTree, .leaves): try takeLeaves(&reader)
        case (.inSchema, .end), (.inTree, .end), (.afterDerived, .end): try finish()
        case (.awaitingSettings, _), (.inSchema, _), (.inTree, _), (.afterDerived, _), (.ended, _):
            throw CompressionError.damaged(.rows)
        }
        if state == .inTree, left == 0, let writer { written = writer.pageCount }
    }

    private func takeSettings(_ reader: inout SegmentReader) throws {
        var numbers: [UInt32] = []
        for _ in 0..<10 {
            guard let number = UInt32(exactly: try reader.number()) else { throw CompressionError.damaged(.rows) }
            numbers.append(number)
        }
        let treeCount = numbers.removeLast()
        let settings = try StoreSettings(numbers: numbers)
        guard settings.pageSize == pageSize, treeCount <= SchemaTrees.most else {
            throw CompressionError.damaged(.rows)
        }
        integers = settings.integers
        let target = try makeTarget(settings)
        self.target = target
        let writer = try StoreWriter(settings, treeCount: Int(treeCount), mostPages: mostPages, sink: target)
        self.writer = writer
        schema = SchemaTrees(textEncoding: settings.textEncoding)
        tree = writer.tree(.table, root: 1)
        kind = .table
        state = .inSchema
    }

    // MARK: Rows

    /// Reads a group of rows, and checks that each record is canonical and not long.
    private func checkedRows(of reader: inout SegmentReader) throws -> RowGroup {
        let rows = try reader.rows()
        guard rows.areCanonical(integers, madeIn: reader.madeForm) else { throw CompressionError.damaged(.rows) }
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
        work.pay(bytes: rows.records.count)
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
        work.pay(bytes: bytes.count)
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
        guard let writer else { throw CompressionError.damaged(.rows) }
        var place = next
        if next < plan.count {
            next += 1
        } else {
            guard laterBegun < later.count, kind == .table else { throw CompressionError.damaged(.rows) }
            place = later[laterBegun].place
            writer.fill(later[laterBegun].pages)
            laterBegun += 1
        }
        // A table WITHOUT ROWID is a tree of entries; an index is never a tree of rows.
        guard plan[place].isTable || kind == .index else { throw CompressionError.damaged(.rows) }
        tree = writer.tree(kind, root: plan[place].root)
        self.kind = kind
        if plan[place].isTable { derivedOfTable = 0 }
        state = .inTree
    }

    private func endTree() throws {
        leaves = FullTextReader()
        if var tree = tree.take() { try tree.end() }
        try writer?.endFilling()
        if state == .inSchema { try planTrees() }
    }

    /// The next tree is a table whose rows come after those of all other trees.
    private func postpone(pages count: Int) throws {
        try endTree()
        guard next < plan.count, plan[next].isTable, next + 1 == plan.count || plan[next + 1].isTable,
            later.count < Self.mostLater, let writer
        else { throw CompressionError.damaged(.rows) }
        later.append((next, try writer.keep(count)))
        next += 1
        state = .afterDerived
    }

    /// Rows of the current tree that are leaves of a full-text index.
    private func takeLeaves(_ reader: inout SegmentReader) throws {
        guard kind == .table, let writer, let target, writer.settings.textEncoding <= 1 else {
            throw CompressionError.damaged(.rows)
        }
        try leaves.read(from: &reader, work) { shape in
            // Its rows have all come: it is before this tree, and none of those that come later.
            let most = laterBegun > 0 ? plan.count : next - 1
            guard let place = plan[..<most].firstIndex(where: { $0.place == shape.content }), plan[place].isTable,
                !later.contains(where: { $0.place == place }),
                try TreeReader.kind(of: plan[place].root, in: target, writer.geometry) == .table
            else { throw CompressionError.damaged(.rows) }
            return try shape.postings(in: target, writer.geometry, root: plan[place].root, work) {
                try target.makeSpillFile()
            }
        } put: { record, rowid in
            try tree?.append(record.span, rowid: rowid)
        }
    }

    /// Lists the trees that follow the schema, and checks that the schema names their roots.
    private func planTrees() throws {
        guard let schema, let writer, schema.count + 1 == writer.roots.count else {
            throw CompressionError.damaged(.rows)
        }
        self.schema = nil
        plan = try PlannedTree.all(of: schema)
        for tree in plan where writer.roots[tree.place] != tree.root { throw CompressionError.damaged(.rows) }
    }

    private func derive(_ shape: IndexShape) throws {
        try endTree()
        derivedOfTable += 1
        guard next < plan.count, !plan[next].isTable, derivedOfTable <= IndexShape.mostOfTable, let writer, let target
        else { throw CompressionError.damaged(.rows) }
        written = writer.pageCount
        try shape.writeIndex(
            ofTable: plan[next].table, root: plan[next].root, with: writer, to: target,
            room: mostPages - min(mostPages, writer.pageCount), work)
        next += 1
        state = .afterDerived
    }

    private func finish() throws {
        try endTree()
        guard next == plan.count, laterBegun == later.count, let writer else { throw CompressionError.damaged(.rows) }
        try writer.finish()
        guard writer.pageCount == mostPages else { throw CompressionError.damaged(.rows) }
        state = .ended
    }
}

extension StoreSettings {
    /// The nine numbers that are sent for the settings.
    ///
    /// Source: `Protocol/COLUMNS.md` section 1.1.
    var numbers: [UInt32] {
        [
            UInt32(pageSize), UInt32(reservedBytes), schemaFormat, cacheSize, hasAutoVacuum ? 1 : 0, textEncoding,
            userVersion, incrementalVacuum, applicationID,
        ]
    }

    static let numberCount = 9

    /// - Parameter numbers: All nine.
    /// - Throws: `CompressionError.damaged`, `StoreFlaw`.
    init(numbers: [UInt32]) throws {
        guard numbers.count == Self.numberCount, numbers[4] <= 1 else { throw CompressionError.damaged(.rows) }
        try self.init(
            pageSize: Int(numbers[0]), reservedBytes: Int(numbers[1]), schemaFormat: numbers[2], cacheSize: numbers[3],
            hasAutoVacuum: numbers[4] == 1, textEncoding: numbers[5], userVersion: numbers[6],
            incrementalVacuum: numbers[7], applicationID: numbers[8])
    }
}
