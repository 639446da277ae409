import ShipCompression
import StoreFormat

/// Where a term of a full-text index stands in one row.
///
/// Source: `Protocol/COLUMNS.md` section 1.4; SQLite's `fts5_index.c`, "position lists".
struct Posting: Hashable, Sendable {
    let term: [UInt8]
    let rowid: Int64
    /// The list of positions, as a leaf holds it.
    let positions: [UInt8]

    /// The order of postings, and how they are sorted: as entries of two values, and a third.
    static let order = IndexShape([IndexShape.Part(0), IndexShape.Part(1)])

    /// - Parameter entry: What `append` made.
    init?(_ entry: Span<UInt8>) {
        var columns = RecordColumns()
        guard columns.read(entry), columns.count == 3 else { return nil }
        let bytes = columns.starts
        term = entry.extracting(bytes[0]..<bytes[1]).withUnsafeBufferPointer(Array.init)
        rowid = CanonicalRecord.integer(columns.types[1], in: entry, at: bytes[1])
        positions = entry.extracting(bytes[2]..<bytes[3]).withUnsafeBufferPointer(Array.init)
    }

    /// - Returns: Whether the posting is not too long; if it is, nothing is appended.
    static func append(_ term: [UInt8], _ rowid: Int64, _ positions: [UInt8], to output: inout [UInt8]) -> Bool {
        var (header, number): ([UInt8], [UInt8]) = ([], [])
        Varint.append(SerialType.blob(length: term.count), to: &header)
        CanonicalRecord.append(rowid, .modern, header: &header, body: &number)
        Varint.append(SerialType.blob(length: positions.count), to: &header)
        let headerSize = CanonicalRecord.headerSizeWithItself(header.count)
        guard headerSize + term.count + number.count + positions.count <= IndexShape.longestEntry else { return false }
        Varint.append(UInt64(headerSize), to: &output)
        output += header
        output += term
        output += number
        output += positions
        return true
    }
}

extension FullTextShape {
    /// Reads the rows of the content, and sorts their postings.
    ///
    /// - Parameter root: That of the content, a table with rowids.
    /// - Throws: `CompressionError.damaged`, `StoreFlaw`, and what `pages` and `spill` throw.
    func postings(
        in pages: any PageSource, _ geometry: PageGeometry, root: UInt32, _ work: DecodingWork,
        spill: @escaping () throws -> any SpillFile
    ) throws -> SortedEntries {
        var reader = try TreeReader(pages, geometry, root: root, kind: .table)
        var sorter = EntrySorter(Posting.order, spill: spill)
        var row = IndexedRow()
        while let cell = try reader.next(), cell.rowid <= rowids.upperBound {
            try work.spend(DecodingWork.row + cell.payloadSize / 4)
            // A long row has no words.
            guard cell.rowid >= rowids.lowerBound, cell.payloadSize <= CanonicalForm.longestHeldRecord else { continue }
            try work.spend(columns.count + DecodingWork.wordByte * (1 + prefixes.count) * cell.payloadSize)
            guard try row.read(cell, from: reader) else { throw CompressionError.damaged(.rows) }
            var postings = RowPostings()
            postings.add(row.record.span, row.columns, self)
            try postings.forEach { term, positions in
                try work.spend(DecodingWork.row + term.count + positions.count)
                let isAdded = try sorter.add { Posting.append(term, cell.rowid, positions, to: &$0) }
                guard isAdded else { throw CompressionError.damaged(.rows) }
            }
        }
        return try sorter.sorted()
    }
}
