/// The places of the values in a row of `sqlite_schema`: type, name, table's name, root page, SQL.
///
/// Source: sqlite.org/fileformat2.html section 2.6.
package struct SchemaRow {
    let type: Range<Int>
    let name: Range<Int>
    let tableName: Range<Int>
    /// 0 where there is none.
    package let root: Int64
    private let columns: RecordColumns

    /// - Returns: `nil` if the record is no row of `sqlite_schema`.
    package init?(_ record: Span<UInt8>) {
        var columns = RecordColumns()
        guard columns.read(record), columns.count == 5, case let types = columns.types,
            types[0..<3].allSatisfy(SerialType.isText), SerialType.isInteger(types[3]) || types[3] == SerialType.null,
            SerialType.isText(types[4]) || types[4] == SerialType.null
        else { return nil }
        (type, name, tableName) = (columns.range(0), columns.range(1), columns.range(2))
        root = types[3] == SerialType.null ? 0 : CanonicalRecord.integer(types[3], in: record, at: columns.starts[3])
        self.columns = columns
    }

    /// The row in canonical encoding, with another root page if it has one.
    package func encoded(from record: Span<UInt8>, root: UInt32, _ integers: IntegerForm) -> [UInt8] {
        var (header, body): ([UInt8], [UInt8]) = ([], [])
        for (index, type) in columns.types.enumerated() {
            if index == 3, type != SerialType.null {
                CanonicalRecord.append(self.root == 0 ? 0 : Int64(root), integers, header: &header, body: &body)
            } else {
                Varint.append(type, to: &header)
                record.extracting(columns.range(index)).withUnsafeBufferPointer { body.append(contentsOf: $0) }
            }
        }
        var bytes: [UInt8] = []
        CanonicalRecord.append(header: header, body, to: &bytes)
        return bytes
    }
}
