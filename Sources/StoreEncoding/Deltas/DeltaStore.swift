import StoreFormat

/// A canonical copy as one side of a delta: its trees and their rows.
final class DeltaStore {
    let pages: any PageSource
    let settings: StoreSettings
    let geometry: PageGeometry
    private let maps = PlaceMaps()
    /// By their places; at 0 that of `sqlite_schema`.
    private(set) var trees: [PlannedTree] = []
    /// The places of the tables, in order, without `sqlite_schema`, and those of the indexes of each, in their order.
    private(set) var tables: [(place: Int, indexes: [Int])] = []
    /// The places of the trees, by their names.
    private var places: (tables: [[UInt8]: Int], indexes: [[UInt8]: Int]) = ([:], [:])

    /// - Throws: `StoreFlaw` for what has no canonical form, and what `pages` throws.
    init(_ pages: any PageSource) throws {
        self.pages = pages
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try pages.read(1, into: &header)
        settings = try StoreSettings(decoding: header)
        geometry = PageGeometry(settings)
        var schema = SchemaTrees(textEncoding: settings.textEncoding)
        var reader = try TreeReader(pages, geometry, root: 1, kind: .table)
        var record: [UInt8] = []
        var rows = 0
        while let cell = try reader.next() {
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else { throw StoreFlaw.schemaRow(rows) }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            try schema.add(record.span)
            rows += 1
        }
        trees = Array(repeating: .schema, count: schema.count + 1)
        for tree in try PlannedTree.all(of: schema) {
            trees[tree.place] = tree
            if tree.isTable {
                tables.append((tree.place, []))
                places.tables[tree.name] = tree.place
            } else {
                tables[tables.count - 1].indexes.append(tree.place)
                places.indexes[tree.name] = tree.place
            }
        }
    }

    /// The places of the trees, by their names in the text encoding of another store.
    func places(like form: StoreSettings) -> (tables: [[UInt8]: Int], indexes: [[UInt8]: Int]) {
        let form = RecordForm(from: settings, to: form, isSchema: false)
        func named(_ places: [[UInt8]: Int]) -> [[UInt8]: Int] {
            Dictionary(places.map { (form.name($0.key), $0.value) }) { _, last in last }
        }
        return (named(places.tables), named(places.indexes))
    }

    func kind(of tree: Int) throws -> TreeKind { try TreeReader.kind(of: trees[tree].root, in: pages, geometry) }

    /// Whether another store encodes records differently.
    func hasOtherForm(than other: DeltaStore) -> Bool {
        settings.integers != other.settings.integers
            || max(1, settings.textEncoding) != max(1, other.settings.textEncoding)
    }

    /// Most rows that a tree can have: each takes at least 6 bytes.
    var mostRows: Int { Int(pages.pageCount) * geometry.pageSize / 6 }

    /// - Parameters:
    ///   - form: Settings of the store that the records are converted for; `nil` for this store.
    ///   - columns: See `TreeHead.columns`.
    func rows(of tree: Int, like form: StoreSettings? = nil, columns: [Int?]? = nil) throws -> DeltaRows {
        var record = RecordForm(from: settings, to: form ?? settings, isSchema: tree == 0)
        record.columns = columns
        return DeltaRows(try RowCursor(pages, geometry, root: trees[tree].root, sharing: maps), record)
    }
}

/// Converts records of one store to the settings of another, and to the columns of another table.
struct RecordForm {
    let isSchema: Bool
    let integers: IntegerForm
    /// See `TreeHead.columns`.
    var columns: [Int?]?
    private let from: UInt32
    private let to: UInt32
    private let changesIntegers: Bool

    init(from source: StoreSettings, to target: StoreSettings, isSchema: Bool) {
        self.isSchema = isSchema
        integers = target.integers
        (from, to) = (max(1, source.textEncoding), max(1, target.textEncoding))
        changesIntegers = source.integers != target.integers
    }

    /// Whether records change at all.
    var isOther: Bool { isSchema || changesIntegers || from != to || columns != nil }

    /// - Throws: `StoreFlaw.record`.
    func apply(to record: inout [UInt8]) throws {
        if isSchema {
            guard let row = SchemaRow(record.span) else { throw StoreFlaw.schemaRow(0) }
            record = row.encoded(from: record.span, root: 1, integers)
        } else if changesIntegers {
            var converted: [UInt8] = []
            guard CanonicalRecord.append(record.span, integers, to: &converted) else {
                throw StoreFlaw.record(page: 0)
            }
            record = converted
        }
        if from != to {
            guard let values = DeltaValue.values(of: record) else { throw StoreFlaw.record(page: 0) }
            record = DeltaValue.record(of: values.map(transcoded), integers)
        }
        if let columns { record = try Self.record(of: columns, in: record) }
    }

    /// A record of columns of another one. Those that it lacks are NULL.
    private static func record(of columns: [Int?], in record: [UInt8]) throws -> [UInt8] {
        var places = RecordColumns()
        guard places.read(record.span) else { throw StoreFlaw.record(page: 0) }
        var (header, body): ([UInt8], [UInt8]) = ([], [])
        for column in columns {
            guard let column, column < places.count else {
                Varint.append(SerialType.null, to: &header)
                continue
            }
            Varint.append(places.types[column], to: &header)
            body += record[places.starts[column]..<places.starts[column + 1]]
        }
        var made: [UInt8] = []
        Varint.append(UInt64(CanonicalRecord.headerSizeWithItself(header.count)), to: &made)
        return made + header + body
    }

    private func transcoded(_ value: DeltaValue) -> DeltaValue {
        guard case .text(let bytes) = value, let text = String(bytes: Array(bytes), textEncoding: from) else {
            return value
        }
        return .text(text.bytes(textEncoding: to)[...])
    }

    /// The name of a tree in the other store.
    func name(_ name: [UInt8]) -> [UInt8] {
        guard from != to, case .text(let bytes) = transcoded(.text(name[...])) else { return name }
        return Array(bytes)
    }
}

extension String {
    /// - Parameter textEncoding: SQLite's number for it.
    func bytes(textEncoding: UInt32) -> [UInt8] {
        switch textEncoding {
        case 2: utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        case 3: utf16.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        default: Array(utf8)
        }
    }
}

/// A row. One value is reused for many rows.
struct DeltaRow {
    var rowid: Int64 = 0
    /// Bytes of the record.
    var size = 0
    /// Empty for a long one.
    var record: [UInt8] = []
    /// Its place in the tree.
    var place = 0
    /// The hash of a long record; 0 until its bytes are read.
    var longHash: UInt64 = 0

    var isLong: Bool { size > CanonicalForm.longestHeldRecord }

    /// A hash of the record. Its key differs from process to process.
    var hash: UInt64 { isLong ? longHash : record.withUnsafeBytes { $0.keyedHash } }

    func hasSameRecord(as other: DeltaRow) -> Bool {
        size == other.size && longHash == other.longHash && record == other.record
    }
}

/// Reads the rows of a tree in order, from any place on.
struct DeltaRows {
    private var rows: RowCursor
    private let form: RecordForm
    private var cell: TreeCell?

    init(_ rows: RowCursor, _ form: RecordForm) {
        self.rows = rows
        self.form = form
    }

    var kind: TreeKind { rows.kind }
    /// The place of the row that comes next.
    var position: Int { rows.position }
    /// Whether records differ from those in the file.
    var isConverting: Bool { form.isOther }

    /// - Returns: Whether there was another row.
    mutating func next(_ row: inout DeltaRow) throws -> Bool {
        row.place = rows.position
        row.longHash = 0
        cell = try rows.next()
        guard let cell else { return false }
        row.rowid = cell.rowid
        row.size = cell.payloadSize
        row.record.removeAll(keepingCapacity: true)
        guard !row.isLong else { return true }
        try rows.appendRecord(of: cell, to: &row.record)
        if form.isOther {
            try form.apply(to: &row.record)
            row.size = row.record.count
            guard !row.isLong else { throw StoreFlaw.record(page: cell.page) }
        }
        return true
    }

    /// See `RowCursor.skipCommonLeaf`.
    mutating func skipCommonLeaf(
        with other: inout DeltaRows
    ) throws -> (count: Int, firstRowid: Int64, lastRowid: Int64)? {
        guard !isConverting, !other.isConverting else { return nil }
        return try rows.skipCommonLeaf(with: &other.rows)
    }

    mutating func move(to place: Int) throws -> Bool { try rows.move(to: place) }

    /// Where the file has the record of the row that `next` read last.
    func places() throws -> RandomAccessRecord? { try cell.map { try rows.places(of: $0) } }

    /// The bytes of the long record that `next` read last, as the file has them.
    func forEachPiece(_ body: (Span<UInt8>) throws -> Void) throws {
        guard let cell else { return }
        try rows.forEachPiece(of: cell, body)
    }
}
