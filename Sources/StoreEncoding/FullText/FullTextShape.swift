import ShipCompression
import StoreFormat

/// How the leaves of a full-text index (FTS5) follow from the rows of a table.
///
/// Source: `Protocol/COLUMNS.md` section 1.4.
struct FullTextShape: Hashable, Sendable {
    /// The place, among all trees, of the table that has the texts.
    let content: Int
    /// The rows that the index is of.
    var rowids: ClosedRange<Int64>
    /// For each column of the index the place of its value in the records of the rows; `nil` for a column without words.
    let columns: [Int?]
    /// Characters of the prefixes that have an index of their own.
    let prefixes: [Int]
    var characters = CharacterFolds()

    static let mostPrefixes = 31

    /// As it is sent.
    var numbers: [UInt64] {
        [UInt64(content), rowids.lowerBound.zigzag, rowids.upperBound.zigzag, UInt64(columns.count)]
            + columns.map { place in place.map { UInt64($0) + 1 } ?? 0 }
            + [UInt64(prefixes.count)] + prefixes.map(UInt64.init) + characters.numbers
    }

    init(content: Int, rowids: ClosedRange<Int64>, columns: [Int?], prefixes: [Int]) {
        (self.content, self.rowids, self.columns, self.prefixes) = (content, rowids, columns, prefixes)
    }

    init(from reader: inout SegmentReader) throws(CompressionError) {
        content = try reader.count(upTo: SchemaTrees.most)
        let (first, last) = (Int64(zigzag: try reader.number()), Int64(zigzag: try reader.number()))
        guard first <= last else { throw .damaged(.rows) }
        rowids = first...last
        var columns: [Int?] = []
        for _ in 0..<(try reader.count(upTo: IndexShape.mostParts)) {
            let place = try reader.count(upTo: IndexShape.mostParts)
            columns.append(place == 0 ? nil : place - 1)
        }
        let places = columns.compactMap { $0 }
        guard Set(places).count == places.count else { throw .damaged(.rows) }
        self.columns = columns
        var prefixes: [Int] = []
        for _ in 0..<(try reader.count(upTo: Self.mostPrefixes)) {
            let length = try reader.count(upTo: CanonicalForm.longestHeldRecord)
            guard length > 0 else { throw .damaged(.rows) }
            prefixes.append(length)
        }
        self.prefixes = prefixes
        characters = try CharacterFolds(from: &reader)
    }
}

extension SegmentReader {
    /// A number that has a limit.
    mutating func count(upTo limit: Int) throws(CompressionError) -> Int {
        guard let number = Int(exactly: try number()), number <= limit else { throw .damaged(.rows) }
        return number
    }
}
