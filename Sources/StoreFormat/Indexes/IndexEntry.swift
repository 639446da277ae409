/// Entries of an index, made from rows of its table.
package enum IndexEntry {
    /// Appends the entry of one row.
    ///
    /// - Parameters:
    ///   - columns: What `RecordColumns.read` made of `row`.
    ///   - header: Is used and overwritten.
    /// - Returns: Whether the row has all values, and the entry is not too long; if not, nothing is appended.
    package static func append(
        of row: Span<UInt8>, _ columns: RecordColumns, rowid: Int64, _ shape: IndexShape, _ integers: IntegerForm,
        header: inout [UInt8], to output: inout [UInt8]
    ) -> Bool {
        header.removeAll(keepingCapacity: true)
        var size = 0
        for part in shape.parts {
            switch part.source {
            case .rowid:
                let type = integers.serialType(of: rowid)
                header.append(UInt8(type))
                size += SerialType.length(type) ?? 0
            case .value(let place):
                guard place < columns.count, columns.types[place] != RecordColumns.leftOut else { return false }
                Varint.append(columns.types[place], to: &header)
                size += columns.starts[place + 1] - columns.starts[place]
            }
        }
        let headerSize = CanonicalRecord.headerSizeWithItself(header.count)
        guard headerSize + size <= IndexShape.longestEntry else { return false }
        Varint.append(UInt64(headerSize), to: &output)
        header.withUnsafeBufferPointer { output.append(contentsOf: $0) }
        for part in shape.parts {
            switch part.source {
            case .rowid:
                let length = SerialType.length(integers.serialType(of: rowid)) ?? 0
                for index in stride(from: length - 1, through: 0, by: -1) {
                    output.append(UInt8(truncatingIfNeeded: rowid >> Int64(8 * index)))
                }
            case .value(let place):
                let bytes = row.extracting(columns.starts[place]..<columns.starts[place + 1])
                bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            }
        }
        return true
    }
}

/// A row of a table, as far as the entries of indexes can hold its values. One of these is used for many rows.
package struct IndexedRow {
    /// Most bytes of a long row's values that are held.
    private static let mostBytes = 1024 * 1024

    package private(set) var record: [UInt8] = []
    package private(set) var columns = RecordColumns()

    package init() {}

    /// Reads the row of a cell that `reader` gave last. Of a long row, values that are longer than an entry are left out.
    ///
    /// - Returns: Whether its values can be held.
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

/// Where the values of a record are. One of these is used for many records.
package struct RecordColumns {
    /// Stands for a value that was left out because no entry of an index could hold it: a type that no record has.
    static let leftOut: UInt64 = 11

    package private(set) var types: [UInt64] = []
    /// Where each value begins; one more for the end of the last.
    package private(set) var starts: [Int] = []

    package init() {}

    package var count: Int { types.count }

    mutating func removeAll() {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
    }

    /// Takes the next value of a record that is not there as a whole.
    mutating func append(_ type: UInt64, length: Int) {
        types.append(type)
        starts.append((starts.last ?? 0) + length)
    }

    /// Looks at a record.
    ///
    /// - Returns: Whether it is sound.
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
