/// The places of the values in a row of `sqlite_schema`: type, name, table's name, root page, SQL.
///
/// Source: sqlite.org/fileformat2.html section 2.6.
package struct SchemaRow {
    let type: Range<Int>
    let name: Range<Int>
    let tableName: Range<Int>
    /// 0 where there is none.
    package let root: Int64
    private let types: [UInt64]
    private let values: [Range<Int>]

    /// - Returns: `nil` if the record is no row of `sqlite_schema`.
    package init?(_ record: Span<UInt8>) {
        var position = 0
        guard let headerSize = Varint.read(record, at: &position), headerSize <= UInt64(record.count) else {
            return nil
        }
        var value = Int(headerSize)
        var types: [UInt64] = []
        var values: [Range<Int>] = []
        while position < headerSize {
            guard types.count < 5, let type = Varint.read(record, at: &position), let length = SerialType.length(type),
                value + length <= record.count
            else { return nil }
            types.append(type)
            values.append(value..<(value + length))
            value += length
        }
        guard types.count == 5, position == headerSize, value == record.count,
            types[0..<3].allSatisfy(SerialType.isText), SerialType.isInteger(types[3]) || types[3] == SerialType.null,
            SerialType.isText(types[4]) || types[4] == SerialType.null
        else { return nil }
        (type, name, tableName) = (values[0], values[1], values[2])
        root = types[3] == SerialType.null ? 0 : CanonicalRecord.integer(types[3], in: record, at: values[3].lowerBound)
        self.types = types
        self.values = values
    }

    /// The row in canonical encoding, with another root page if it has one.
    package func encoded(from record: Span<UInt8>, root: UInt32, _ integers: IntegerForm) -> [UInt8] {
        var (header, body): ([UInt8], [UInt8]) = ([], [])
        for (index, type) in types.enumerated() {
            if index == 3, type != SerialType.null {
                CanonicalRecord.append(self.root == 0 ? 0 : Int64(root), integers, header: &header, body: &body)
            } else {
                Varint.append(type, to: &header)
                record.extracting(values[index]).withUnsafeBufferPointer { body.append(contentsOf: $0) }
            }
        }
        var bytes: [UInt8] = []
        Varint.append(UInt64(CanonicalRecord.headerSizeWithItself(header.count)), to: &bytes)
        return bytes + header + body
    }
}
