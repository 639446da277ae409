/// How the entries of an index follow from the rows of its table, and in which order they come.
///
/// Source: `Protocol/COLUMNS.md`, "Derived indexes"; sqlite.org/fileformat2.html sections 2.4 and 2.5.
package struct IndexShape: Hashable, Sendable {
    /// Most values of an entry: SQLite's own limit of columns.
    package static let mostParts = 32_767
    /// Longest entry, in bytes, that a consumer derives. The producer ships an index with a longer one.
    package static let longestEntry = 32 * 1024

    /// Most indexes of one table that a consumer derives: it reads the whole table for each of them. The producer ships the others.
    package static let mostOfTable = 64

    /// One value of an entry.
    package struct Part: Hashable, Sendable {
        /// The value's place in the row's record, from 0; `nil` for the rowid.
        package let place: Int?
        package let collation: Collation
        package let isDescending: Bool

        package init(_ place: Int?, _ collation: Collation = .binary, isDescending: Bool = false) {
            self.place = place
            self.collation = collation
            self.isDescending = isDescending
        }
    }

    /// SQLite's own collations [sqlite.org/datatype3.html#collation].
    package enum Collation: UInt8, Hashable, Sendable {
        case binary = 0
        case noCase = 1
        case rightTrim = 2

        /// - Parameter name: In capitals.
        /// - Returns: `nil` for a collation that is not SQLite's own.
        package init?(sqlName name: String) {
            switch name {
            case "BINARY": self = .binary
            case "NOCASE": self = .noCase
            case "RTRIM": self = .rightTrim
            default: return nil
            }
        }
    }

    package let parts: [Part]

    package init(_ parts: [Part]) { self.parts = parts }

    /// Whether the rowid is one of the values.
    package var hasRowid: Bool { parts.contains { $0.place == nil } }

    /// Whether the index compares all texts byte by byte, as every index of a UTF-16 store does.
    package var isBinary: Bool { parts.allSatisfy { $0.collation == .binary } }
}

extension IndexShape {
    /// Appends the entry of one row.
    ///
    /// - Parameters:
    ///   - columns: What `RecordColumns.read` made of `row`.
    ///   - header: Scratch space.
    /// - Returns: Whether the row has all values, and the entry is not too long; if not, nothing is appended.
    package func appendEntry(
        of row: Span<UInt8>, _ columns: RecordColumns, rowid: Int64, _ integers: IntegerForm,
        header: inout [UInt8], to output: inout [UInt8]
    ) -> Bool {
        header.removeAll(keepingCapacity: true)
        var size = 0
        for part in parts {
            if let place = part.place {
                guard place < columns.count, columns.types[place] != RecordColumns.leftOut else { return false }
                Varint.append(columns.types[place], to: &header)
                size += columns.starts[place + 1] - columns.starts[place]
            } else {
                let type = integers.serialType(of: rowid)
                header.append(UInt8(type))
                size += SerialType.length(type) ?? 0
            }
        }
        let headerSize = CanonicalRecord.headerSizeWithItself(header.count)
        guard headerSize + size <= Self.longestEntry else { return false }
        Varint.append(UInt64(headerSize), to: &output)
        header.withUnsafeBufferPointer { output.append(contentsOf: $0) }
        for part in parts {
            if let place = part.place {
                let bytes = row.extracting(columns.starts[place]..<columns.starts[place + 1])
                bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            } else {
                let length = SerialType.length(integers.serialType(of: rowid)) ?? 0
                for index in stride(from: length - 1, through: 0, by: -1) {
                    output.append(UInt8(truncatingIfNeeded: rowid >> Int64(8 * index)))
                }
            }
        }
        return true
    }
}
