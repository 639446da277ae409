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

/// A row of a table, for making entries of indexes. One value serves many rows.
package struct IndexedRow {
    /// Most bytes of a long row's values that are in memory.
    private static let mostBytes = 1024 * 1024

    package private(set) var record: [UInt8] = []
    package private(set) var columns = RecordColumns()

    package init() {}

    /// Reads the row of a cell that `reader` gave last. It leaves out values of a long row that are longer than an entry.
    ///
    /// - Returns: Whether the record has ended.
    /// - Throws: `StoreFlaw` for an unsound record, and what `reader` throws.
    package mutating func read(_ cell: TreeCell, from reader: TreeReader) throws -> Bool {
        record.removeAll(keepingCapacity: true)
        guard cell.payloadSize > CanonicalForm.longestHeldRecord else {
            try reader.appendRecord(of: cell, to: &record)
            let whole = record
            guard columns.read(whole.span) else { throw StoreFlaw.record(page: cell.page) }
            return true
        }
        var walk = RecordWalk()
        var held: [UInt8] = []
        var places = RecordColumns()
        places.removeAll()
        try reader.forEachPiece(of: cell) { piece in
            let isSound = walk.feed(piece) { type, place, bytes in
                let length = SerialType.length(type) ?? 0
                if place == places.count {
                    let isHeld = length <= IndexShape.longestEntry && held.count + length <= Self.mostBytes
                    places.append(isHeld ? type : RecordColumns.leftOut, length: isHeld ? length : 0)
                }
                guard places.types[place] != RecordColumns.leftOut else { return }
                bytes.withUnsafeBufferPointer { held.append(contentsOf: $0) }
            }
            guard isSound else { throw StoreFlaw.record(page: cell.page) }
        }
        (record, columns) = (held, places)
        return walk.isAtEnd
    }
}

/// The places of the values in a record. One value serves many records.
package struct RecordColumns {
    /// The type of a value that was left out because no entry could hold it: no record has this type.
    static let leftOut: UInt64 = 11

    package private(set) var types: [UInt64] = []
    /// Where each value begins, and where the last one ends.
    package private(set) var starts: [Int] = []

    package init() {}

    package var count: Int { types.count }

    mutating func removeAll() {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
    }

    /// Adds the next value of a record that is not in memory as a whole.
    mutating func append(_ type: UInt64, length: Int) {
        types.append(type)
        starts.append((starts.last ?? 0) + length)
    }

    /// Finds the values of a record.
    ///
    /// - Returns: Whether the record is sound.
    package mutating func read(_ record: Span<UInt8>) -> Bool {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        var position = 0
        guard let headerSize = Varint.read(record, at: &position), headerSize <= UInt64(record.count) else {
            return false
        }
        let end = Int(headerSize)
        var value = end
        while position < end {
            guard let type = Varint.read(record, at: &position), let length = SerialType.length(type) else {
                return false
            }
            types.append(type)
            starts.append(value)
            value += length
        }
        starts.append(value)
        return position == end && value == record.count
    }
}
