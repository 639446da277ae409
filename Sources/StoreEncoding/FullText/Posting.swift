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

/// The postings of one row, which grow word by word.
struct RowPostings {
    fileprivate struct List {
        var bytes: [UInt8] = []
        var column = 0
        var position = 0
    }

    private var lists: [[UInt8]: List] = [:]

    /// Adds the words of a row.
    ///
    /// - Parameter columns: Of the row's record.
    mutating func add(_ record: Span<UInt8>, _ columns: RecordColumns, _ shape: FullTextShape) {
        for (column, place) in shape.columns.enumerated() {
            guard let place, place < columns.count else { continue }
            let type = columns.types[place]
            let bytes = columns.starts[place]..<columns.starts[place + 1]
            if SerialType.isText(type) {
                add(record.extracting(bytes), column, shape)
            } else if SerialType.isInteger(type) {
                let digits = Array(String(CanonicalRecord.integer(type, in: record, at: bytes.lowerBound)).utf8)
                add(digits.span, column, shape)
            }
        }
    }

    private mutating func add(_ text: Span<UInt8>, _ column: Int, _ shape: FullTextShape) {
        var position = 0
        var lists: [[UInt8]: List] = [:]
        swap(&lists, &self.lists)
        shape.characters.forEachWord(in: text) { word in
            lists[[UInt8(ascii: "0")] + word, default: List()].add(column, position)
            for (index, length) in shape.prefixes.enumerated() {
                guard let prefix = word.prefix(characters: length) else { continue }
                lists[[UInt8(ascii: "1") + UInt8(index)] + prefix, default: List()].add(column, position)
            }
            position += 1
        }
        swap(&lists, &self.lists)
    }

    /// Hands out the postings, in no order.
    func forEach(_ body: (_ term: [UInt8], _ positions: [UInt8]) throws -> Void) rethrows {
        for (term, list) in lists { try body(term, list.bytes) }
    }
}

extension RowPostings.List {
    /// A column other than the one before begins with a 1 and its number. Positions are 2 more than their distance from the one before.
    fileprivate mutating func add(_ column: Int, _ position: Int) {
        if column != self.column {
            bytes.append(1)
            Varint.append(UInt64(column), to: &bytes)
            (self.column, self.position) = (column, 0)
        }
        Varint.append(UInt64(position - self.position + 2), to: &bytes)
        self.position = position
    }
}

extension [UInt8] {
    /// The first characters of a word in UTF-8; `nil` if it has fewer.
    fileprivate func prefix(characters: Int) -> ArraySlice<UInt8>? {
        var left = characters
        for (place, byte) in enumerated() where byte & 0xc0 != 0x80 {
            if left == 0 { return self[..<place] }
            left -= 1
        }
        return left == 0 ? self[...] : nil
    }
}

extension FullTextShape {
    /// Reads the rows of the content, and sorts their postings.
    ///
    /// - Parameters:
    ///   - root: That of the content, a table with rowids.
    ///   - work: That of the part.
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
