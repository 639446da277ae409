package import StoreFormat

/// The size of a table on the wire, and of each part of it.
package struct TableCost: Hashable, Sendable {
    /// Bytes.
    package let total: Int64
    /// Bytes that add up to `total`; none where there are no rows.
    package let parts: [TablePart: Int64]

    /// - Parameter weights: In which proportion the parts share the total.
    package init(total: Int64, weights: [TablePart: Int64]) {
        let parts = weights.filter { $0.value > 0 }.sorted { $0.key.order < $1.key.order }
        let shares = parts.map(\.value).shares(of: total)
        self.total = total
        self.parts = Dictionary(zip(parts.map(\.key), shares)) { first, _ in first }
    }

    /// The same in another proportion to all.
    package func scaled(to total: Int64) -> TableCost { TableCost(total: total, weights: parts) }
}

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
    ///   - makeSpillFile: As for `StoreWalk`.
    /// - Returns: The costs by the names of the tables, including `sqlite_schema`.
    /// - Throws: `StoreFlaw`, `CompressionError`, and what `pages` and `makeSpillFile` throw.
    package static func byTable(
        over pages: any PageSource, shapes: [String: IndexShape], effort: SegmentEffort = .standard,
        encoding most: Int64 = .max, makeSpillFile: (() throws -> any SpillFile)? = nil
    ) throws -> [String: TableCost] {
        let size = Int64(pages.pageCount) * Int64(try StoreSettings(decoding: try pages.header).pageSize)
        let step = Int((size - 1) / max(1, most)) + 1
        var samples: [String: Sample] = [:]
        try StoreWalk.run(over: pages, shapes: shapes, endsWithTables: true, makeSpillFile: makeSpillFile) { content in
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

extension [Int64] {
    /// Whole numbers in the proportion of these that add up to `total`.
    ///
    /// - Returns: Only zeros for no weight at all.
    package func shares(of total: Int64) -> [Int64] {
        let all = reduce(0, +)
        var (sum, given): (Int64, Int64) = (0, 0)
        return map { weight in
            sum += weight
            let upToHere =
                all == 0 ? 0 : sum == all ? total : Int64((Double(sum) / Double(all) * Double(total)).rounded())
            defer { given = upToHere }
            return upToHere - given
        }
    }
}
