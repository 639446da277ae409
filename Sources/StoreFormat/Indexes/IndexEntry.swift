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
