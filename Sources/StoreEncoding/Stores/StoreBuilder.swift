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

    private let pageSize: Int
    private let mostPages: UInt32
    private let work: DecodingWork
    private let makeTarget: (StoreSettings) throws -> any Target
    private var state = State.awaitingSettings
    /// Once the settings have come.
    private var plan: TreePlan?
    private var tree: TreeWriter?
    private var kind = TreeKind.table
    private var integers = IntegerForm.modern
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
                var reader = try SegmentReader(decoding: segment, work) { [plan, work] runs in
                    guard let plan else { throw CompressionError.damaged(.segment) }
                    return try PageRun.bytes(
                        of: runs, in: plan.target, plan.writer.geometry, after: plan.writer.roots.last ?? 1,
                        upTo: last, without: plan.kept, work)
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
        case (.inTree, .derived), (.afterDerived, .derived):
            try derive(try IndexShape(parts: try reader.count(upTo: IndexShape.mostParts), from: &reader))
        case (.inSchema, .later), (.inTree, .later), (.afterDerived, .later):
            try postpone(pages: try reader.count(upTo: Int(mostPages)))
        case (.inTree, .leaves): try takeLeaves(&reader)
        case (.inSchema, .end), (.inTree, .end), (.afterDerived, .end): try finish()
        case (.awaitingSettings, _), (.inSchema, _), (.inTree, _), (.afterDerived, _), (.ended, _):
            throw CompressionError.damaged(.rows)
        }
        if state == .inTree, left == 0, let plan { written = plan.writer.pageCount }
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
        let plan = try TreePlan(
            settings, treeCount: Int(treeCount), mostPages: mostPages, work, to: try makeTarget(settings))
        self.plan = plan
        tree = try plan.begin(.table)
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
            try plan?.addSchemaRow(rows.records.span.extracting(start..<end))
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
            try plan?.addSchemaRow(row.span)
        }
    }

    // MARK: Trees

    private func beginTree(_ kind: TreeKind) throws {
        let plan = try endTree()
        guard !plan.isInLater || kind == .table else { throw CompressionError.damaged(.rows) }
        tree = try plan.begin(kind)
        self.kind = kind
        state = .inTree
    }

    private func endTree() throws -> TreePlan {
        guard let plan else { throw CompressionError.damaged(.rows) }
        if let tree = tree.take() { try plan.end(tree) }
        return plan
    }

    private func postpone(pages count: Int) throws {
        try endTree().postpone(pages: count)
        state = .afterDerived
    }

    private func takeLeaves(_ reader: inout SegmentReader) throws {
        guard kind == .table else { throw CompressionError.damaged(.rows) }
        try plan?.readLeaves(from: &reader) { record, rowid in
            try tree?.append(record.span, rowid: rowid)
        }
    }

    private func derive(_ shape: IndexShape) throws {
        let plan = try endTree()
        written = plan.writer.pageCount
        try plan.derive(shape)
        state = .afterDerived
    }

    private func finish() throws {
        try endTree().finish()
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
