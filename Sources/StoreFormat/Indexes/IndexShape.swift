/// What an index's entries are made of, where they follow from the rows of its table, and in which order they come.
///
/// Source: `Protocol/COLUMNS.md`, "Derived indexes"; sqlite.org/fileformat2.html sections 2.4 and 2.5.
package struct IndexShape: Hashable, Sendable {
    /// Most values of an entry: SQLite's own limit of columns.
    package static let mostParts = 32_767
    /// Longest entry, in bytes, that is derived. An index with a longer one is shipped.
    package static let longestEntry = 32 * 1024

    /// Most indexes of one table that are derived: for each of them a consumer reads the whole table once more. Others are
    /// shipped.
    package static let mostOfTable = 64

    /// One value of an entry.
    package struct Part: Hashable, Sendable {
        package let source: Source
        package let collation: Collation
        package let direction: Direction

        package init(_ source: Source, _ collation: Collation = .binary, _ direction: Direction = .ascending) {
            self.source = source
            self.collation = collation
            self.direction = direction
        }
    }

    /// Where a value comes from.
    package enum Source: Hashable, Sendable {
        case rowid
        /// The value at a place in the row's record, from 0.
        case value(Int)
    }

    /// SQLite's own collations [sqlite.org/datatype3.html#collation].
    package enum Collation: UInt8, Hashable, Sendable {
        case binary = 0
        case noCase = 1
        case rightTrim = 2
    }

    package enum Direction: Hashable, Sendable {
        case ascending, descending
    }

    package let parts: [Part]

    package init(_ parts: [Part]) { self.parts = parts }

    /// Whether the rowid is one of the values.
    package var hasRowid: Bool { parts.contains { $0.source == .rowid } }

    /// Whether all texts are compared byte by byte, which is all there is in stores in UTF-16.
    package var isBinary: Bool { parts.allSatisfy { $0.collation == .binary } }
}
