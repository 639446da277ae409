import StoreFormat

/// An index that follows from its table, which has been written before.
///
/// Source: `Protocol/COLUMNS.md` section 1.3.
struct DerivedIndex {
    private let shape: IndexShape
    private let table: UInt32
    private let root: UInt32

    /// - Parameters:
    ///   - table: The root page of its table.
    ///   - root: Its own root page.
    init(_ shape: IndexShape, ofTable table: UInt32, root: UInt32) {
        self.shape = shape
        self.table = table
        self.root = root
    }

    /// - Parameter room: Pages that may still be given, beside the root.
    /// - Throws: `CompressionError.damaged`, `StoreFlaw`, and what the target throws.
    func write(with writer: StoreWriter, to target: any StoreBuilder.Target, room: UInt32) throws {
        let geometry = PageGeometry(writer.settings)
        let tableKind = try TreeReader.kind(of: table, in: target, geometry)
        guard writer.settings.textEncoding <= 1 || shape.isBinary, tableKind == .table || !shape.hasRowid else {
            throw CompressionError.damaged(.rows)
        }
        var reader = try TreeReader(target, geometry, root: table, kind: tableKind)
        var sorter = EntrySorter(shape) { try target.makeSpillFile() }
        // Entries that the file has no room for are not sorted first.
        var bytesLeft = (Int64(room) + 1) * Int64(geometry.usableSize)
        var row = IndexedRow()
        var header: [UInt8] = []
        while let cell = try reader.next() {
            guard try row.read(cell, from: reader) else { throw CompressionError.damaged(.rows) }
            let record = row.record
            let isWhole = try sorter.add { bytes in
                let start = bytes.count
                let isWhole = IndexEntry.append(
                    of: record.span, row.columns, rowid: cell.rowid, shape, writer.settings.integers, header: &header,
                    to: &bytes)
                bytesLeft -= Int64(bytes.count - start)
                return isWhole
            }
            guard isWhole, bytesLeft >= 0 else { throw CompressionError.damaged(.rows) }
        }
        var tree = writer.tree(.index, root: root)
        try sorter.drain { entry in try tree.append(entry) }
        try tree.end()
    }
}

extension IndexShape {
    init(_ reader: inout SegmentReader) throws {
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
