import ShipCompression
import StoreFormat

extension IndexShape {
    /// Writes an index that is derived from its table. The table has been written before.
    ///
    /// Source: `Protocol/COLUMNS.md` section 1.3.
    ///
    /// - Parameters:
    ///   - table: The root page of its table.
    ///   - root: Its own root page.
    ///   - room: Most pages that the index may take beside its root.
    /// - Throws: `CompressionError.damaged`, `StoreFlaw`, and what the target throws.
    func writeIndex(
        ofTable table: UInt32, root: UInt32, with writer: StoreWriter, to target: any StoreBuilder.Target, room: UInt32,
        _ work: DecodingWork
    ) throws {
        let geometry = PageGeometry(writer.settings)
        let tableKind = try TreeReader.kind(of: table, in: target, geometry)
        guard writer.settings.textEncoding <= 1 || isBinary, tableKind == .table || !hasRowid else {
            throw CompressionError.damaged(.rows)
        }
        var reader = try TreeReader(target, geometry, root: table, kind: tableKind)
        var sorter = EntrySorter(self) { try target.makeSpillFile() }
        // A limit before the entries are sorted: the file has no room for more.
        var bytesLeft = (Int64(room) + 1) * Int64(geometry.usableSize)
        var row = IndexedRow()
        var header: [UInt8] = []
        while let cell = try reader.next() {
            try work.spend(DecodingWork.row + cell.payloadSize / 4)
            let before = bytesLeft
            guard try row.read(cell, from: reader) else { throw CompressionError.damaged(.rows) }
            let record = row.record
            let isComplete = try sorter.add { bytes in
                let start = bytes.count
                let isComplete = appendEntry(
                    of: record.span, row.columns, rowid: cell.rowid, writer.settings.integers, header: &header,
                    to: &bytes)
                bytesLeft -= Int64(bytes.count - start)
                return isComplete
            }
            guard isComplete, bytesLeft >= 0 else { throw CompressionError.damaged(.rows) }
            try work.spend(DecodingWork.row + Int(before - bytesLeft))
        }
        var tree = writer.tree(.index, root: root)
        try sorter.drain { entry in
            work.pay(bytes: entry.count)
            try tree.append(entry)
        }
        try tree.end()
    }
}

extension IndexShape {
    /// As it is sent: the number of its parts, and one number for each part.
    var numbers: [UInt64] {
        [UInt64(parts.count)]
            + parts.map { part in
                let place = part.place.map { UInt64($0) + 1 } ?? 0
                return place << 3 | UInt64(part.collation.rawValue) << 1 | (part.isDescending ? 1 : 0)
            }
    }

    init(parts count: Int, from reader: inout SegmentReader) throws(CompressionError) {
        guard (1...Self.mostParts).contains(count) else { throw .damaged(.rows) }
        var parts: [Part] = []
        for _ in 0..<count {
            let number = try reader.number()
            guard let collation = Collation(rawValue: UInt8(truncatingIfNeeded: number >> 1 & 3)),
                number >> 3 <= UInt64(Self.mostParts)
            else { throw .damaged(.rows) }
            let place = number >> 3 == 0 ? nil : Int(number >> 3) - 1
            parts.append(Part(place, collation, isDescending: number & 1 == 1))
        }
        self.init(parts)
    }
}

extension UnsafeRawBufferPointer {
    /// The key differs from process to process.
    var keyedHash: UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: self)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
