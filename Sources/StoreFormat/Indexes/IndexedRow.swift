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
