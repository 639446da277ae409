import StoreFormat

extension RowGroup {
    /// - Parameters:
    ///   - rowLimit: Most rows to accept.
    ///   - madeForm: Becomes the encoding in which the records were made; `nil` for records that are as the segment has them.
    init(
        from source: inout SegmentSource, rowLimit: Int, sizeLimit: Int, madeForm: inout IntegerForm?
    ) throws(CompressionError) {
        self.init()
        let count = try source.control.count(limit: rowLimit)
        guard count > 0 else { return }
        let head = try source.control.byte()
        guard head <= 7 else { throw .damaged(.segment) }
        let form = head & GroupTag.isLegacy == 0 ? IntegerForm.modern : .legacy
        madeForm = head & GroupTag.isRowWise == 0 ? form : nil
        var decoder = ColumnDecoder(rowids: nil)
        if head & GroupTag.hasRowids != 0 {
            let rowids = try decoder.integers(count, from: &source)
            decoder = ColumnDecoder(rowids: rowids)
            self.rowids = rowids
        }
        let limit = min(sizeLimit, SegmentLimits.groupSize)
        if head & GroupTag.isRowWise != 0 {
            try readRows(count, decoder, limit: limit, from: &source)
        } else {
            try readColumns(count, &decoder, form, limit: limit, from: &source)
        }
    }

    private mutating func readRows(
        _ count: Int, _ decoder: ColumnDecoder, limit: Int, from source: inout SegmentSource
    ) throws(CompressionError) {
        var end = 0
        for length in try decoder.integers(count, from: &source) {
            guard length >= 1, length <= Int64(limit - end) else { throw .damaged(.segmentLimit) }
            end += Int(length)
            ends.append(end)
        }
        let range = try source.text.take(end)
        records = Array(source.text.bytes[range])
    }

    private mutating func readColumns(
        _ count: Int, _ decoder: inout ColumnDecoder, _ form: IntegerForm, limit: Int,
        from source: inout SegmentSource
    ) throws(CompressionError) {
        let counts = try decoder.integers(count, from: &source)
        var builder = try RecordBuilder(columnCounts: counts, form: form, limit: limit)
        for column in 0..<builder.most {
            try decoder.decodeColumn(
                builder.rows(withColumn: column), isWhole: column < builder.least, from: &source)
            try builder.measure(decoder.columns[column])
        }
        (records, ends) = builder.build(decoder.columns)
    }
}
