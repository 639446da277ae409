import StoreFormat

/// The postings of one row, which grow word by word.
struct RowPostings {
    fileprivate struct List {
        var bytes: [UInt8] = []
        var column = 0
        var position = 0
    }

    private var lists: [[UInt8]: List] = [:]

    /// Adds the words of a row, by its record and where that has the columns.
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
