import StoreFormat

/// A canonical copy as one side of a delta: its trees, and their rows as a delta sees them.
final class DeltaStore {
    /// A tree, with its place among all: 0 is that of `sqlite_schema`.
    struct Tree: Hashable {
        let isTable: Bool
        let name: [UInt8]
        let root: UInt32
        /// Of an index: the place of its table.
        let table: Int?
        /// Of a table: the places of its indexes, in their order.
        var indexes: [Int] = []
    }

    let pages: any PageSource
    let settings: StoreSettings
    let geometry: PageGeometry
    /// By their places.
    private(set) var trees: [Tree] = []
    /// The places of the tables, in order, without `sqlite_schema`.
    private(set) var tables: [Int] = []
    private var places: [TreeName: Int] = [:]

    struct TreeName: Hashable {
        let isTable: Bool
        let name: [UInt8]
    }

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
        take(try schema.inOrder(), count: schema.count)
    }

    private func take(_ listed: [SchemaTrees.Table], count: Int) {
        let none = Tree(isTable: true, name: [], root: 1, table: nil)
        trees = Array(repeating: none, count: count + 1)
        for table in listed {
            let place = table.tree.index
            tables.append(place)
            trees[place] = Tree(
                isTable: true, name: table.tree.name, root: table.tree.root, table: nil,
                indexes: table.indexes.map(\.index))
            for index in table.indexes {
                trees[index.index] = Tree(isTable: false, name: index.name, root: index.root, table: place)
                places[TreeName(isTable: false, name: index.name)] = index.index
            }
            places[TreeName(isTable: true, name: table.tree.name)] = place
        }
    }

    /// The places of the trees by their names, as a store with other settings has them.
    func places(like form: StoreSettings) -> [TreeName: Int] {
        let form = RecordForm(from: settings, to: form, isSchema: false)
        var named: [TreeName: Int] = [:]
        for (name, place) in places {
            named[TreeName(isTable: name.isTable, name: form.name(name.name))] = place
        }
        return named
    }

    func kind(of tree: Int) throws -> TreeKind { try TreeReader.kind(of: trees[tree].root, in: pages, geometry) }

    /// Whether the records of another store look otherwise.
    func hasOtherForm(than other: DeltaStore) -> Bool {
        settings.integers != other.settings.integers
            || max(1, settings.textEncoding) != max(1, other.settings.textEncoding)
    }

    /// Rows that a tree can have at most: each takes 6 bytes at least.
    var mostRows: Int { Int(pages.pageCount) * geometry.pageSize / 6 }

    /// - Parameter form: The store whose records they are to be like; `nil` for the store itself.
    func rows(of tree: Int, like form: StoreSettings? = nil) throws -> DeltaRows {
        DeltaRows(
            try PlacedRows(pages, geometry, root: trees[tree].root),
            RecordForm(from: settings, to: form ?? settings, isSchema: tree == 0))
    }
}

/// How a record of one store looks in another.
struct RecordForm {
    let isSchema: Bool
    let integers: IntegerForm
    private let from: UInt32
    private let to: UInt32
    private let changesIntegers: Bool

    init(from source: StoreSettings, to target: StoreSettings, isSchema: Bool) {
        self.isSchema = isSchema
        integers = target.integers
        (from, to) = (max(1, source.textEncoding), max(1, target.textEncoding))
        changesIntegers = source.integers != target.integers
    }

    /// Whether records are other bytes there.
    var isOther: Bool { isSchema || changesIntegers || from != to }

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
        guard from != to else { return }
        guard let values = DeltaValue.values(of: record) else { throw StoreFlaw.record(page: 0) }
        record = DeltaValue.record(of: values.map(transcoded), integers)
    }

    private func transcoded(_ value: DeltaValue) -> DeltaValue {
        guard case .text(let bytes) = value, let text = String(bytes: Array(bytes), textEncoding: from) else {
            return value
        }
        return .text(text.bytes(textEncoding: to)[...])
    }

    /// The name of a tree there.
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

/// A row as a delta sees it. One of these is used for many rows.
struct DeltaRow {
    var rowid: Int64 = 0
    /// Bytes of the record.
    var size = 0
    /// Empty for a long one.
    var record: [UInt8] = []

    var isLong: Bool { size > CanonicalForm.longestHeldRecord }
}

/// The rows of a tree, one after the other, and from any place on.
struct DeltaRows {
    private var rows: PlacedRows
    private let form: RecordForm
    private var cell: TreeCell?

    init(_ rows: PlacedRows, _ form: RecordForm) {
        self.rows = rows
        self.form = form
    }

    var kind: TreeKind { rows.kind }
    /// The place of the row that comes next.
    var position: Int { rows.position }
    /// Whether records are not as they stand in the file.
    var isConverting: Bool { form.isOther }

    /// - Returns: Whether there was another row.
    mutating func next(_ row: inout DeltaRow) throws -> Bool {
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

    /// See `PlacedRows.skipCommonLeaf`.
    mutating func skipCommonLeaf(with other: inout DeltaRows) throws -> PlacedRows.CommonRows? {
        guard !isConverting, !other.isConverting else { return nil }
        return try rows.skipCommonLeaf(with: &other.rows)
    }

    mutating func move(to place: Int) throws -> Bool { try rows.move(to: place) }

    /// The record of the row that `next` gave last, as it stands in the file.
    func places() throws -> RecordPlaces? { try cell.map { try rows.places(of: $0) } }

    /// The record of a long row, which `next` gave last, as it stands in the file.
    func forEachPiece(_ body: (Span<UInt8>) throws -> Void) throws {
        guard let cell else { return }
        try rows.forEachPiece(of: cell, body)
    }
}
