package import StoreFormat

extension TableCost {
    /// The size on the wire of each table of a store that is sent by its rows.
    ///
    /// Encodes each table alone, with those entries of its indexes that must be sent. In a shipment, small tables share segments and
    /// take less.
    ///
    /// - Parameters:
    ///   - pages: Of a canonical copy.
    ///   - shapes: As for `StoreWalk`.
    ///   - effort: How hard the encoder works.
    ///   - most: About how many bytes are encoded. In a larger store, some segments of each table stand for the others.
    /// - Returns: The costs by the names of the tables, including `sqlite_schema`.
    /// - Throws: `StoreFlaw`, `CompressionError`, and what `pages` throws.
    package static func byTable(
        over pages: any PageSource, shapes: [String: IndexShape], effort: SegmentEffort = .standard,
        encoding most: Int64 = .max
    ) throws -> [String: TableCost] {
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try pages.read(1, into: &header)
        let size = Int64(pages.pageCount) * Int64(try StoreSettings(decoding: header).pageSize)
        let step = Int((size - 1) / max(1, most)) + 1
        var samples: [String: Sample] = [:]
        try StoreWalk.run(over: pages, shapes: shapes, endsWithTables: true) { content in
            let table = content.table
            var sample = samples[table] ?? Sample()
            sample.bytes += content.size
            if sample.count % step == 0 {
                sample.read += content.size
                let segment = try content.encoded(effort) { sample.parts[$0, default: 0] += Int64($1) }
                sample.encoded += segment.count
            }
            sample.count += 1
            samples[table] = sample
        }
        return samples.mapValues(\.cost)
    }

    /// The segments of a table.
    private struct Sample {
        var count = 0
        /// Of all rows.
        var bytes = 0
        /// Of the rows that were encoded.
        var read = 0
        var encoded = 0
        /// The encoded size of each part.
        var parts: [TablePart: Int64] = [:]

        var cost: TableCost {
            let total =
                read == bytes || read == 0 ? Int64(encoded) : Int64(Double(encoded) / Double(read) * Double(bytes))
            return TableCost(total: total, weights: parts)
        }
    }
}
