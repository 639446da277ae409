import StoreFormat

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
        try rows.reader.appendRecord(of: cell, to: &row.record)
        if form.isOther {
            try form.apply(to: &row.record)
            row.size = row.record.count
            guard !row.isLong else { throw StoreFlaw.record(page: cell.page) }
        }
        return true
    }

    /// See `RowCursor.takeLeaf`.
    mutating func takeLeaf(upTo most: Int) throws -> PackedLeaf? {
        isConverting ? nil : try rows.takeLeaf(upTo: most)
    }

    /// See `RowCursor.skipCommonLeaf`.
    mutating func skipCommonLeaf(with other: inout DeltaRows) throws -> PackedLeaf? {
        guard !isConverting, !other.isConverting else { return nil }
        return try rows.skipCommonLeaf(with: &other.rows)
    }

    mutating func move(to place: Int) throws -> Bool { try rows.move(to: place) }

    /// Goes to the first row of a table from here on that has a rowid, or a higher one; to the end if there is none.
    mutating func move(toRowid rowid: Int64) throws {
        // No tree has more rows.
        var row = DeltaRow()
        let first = try (position..<Int(UInt32.max)).first(notBefore: { place in
            try move(to: place) && next(&row) && row.rowid < rowid
        })
        _ = try move(to: first)
    }

    /// Where the file has the record of the row that `next` read last.
    func places() throws -> RandomAccessRecord? { try cell.map { try rows.reader.places(of: $0) } }

    /// The bytes of the long record that `next` read last, as the file has them.
    func forEachPiece(_ body: (Span<UInt8>) throws -> Void) throws {
        guard let cell else { return }
        try rows.reader.forEachPiece(of: cell, body)
    }
}
