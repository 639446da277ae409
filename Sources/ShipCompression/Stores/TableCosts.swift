package import StoreFormat

/// What each table of a store takes on the wire, by its rows.
package enum TableCosts {
    /// Encodes each table, with what must be sent of its indexes, for itself: in a shipment small tables share segments,
    /// and take a little less.
    ///
    /// - Parameters:
    ///   - pages: Of a canonical copy.
    ///   - shapes: As for `StoreWalk`.
    /// - Returns: Bytes by the table's name, `sqlite_schema` among them.
    /// - Throws: `StoreFlaw`, `CompressionError`, and what `pages` throws.
    package static func byRows(
        over pages: any PageSource, shapes: [String: IndexShape]
    ) throws -> [String: Int64] {
        var costs: [String: Int64] = [:]
        try StoreWalk.run(over: pages, shapes: shapes, segments: .ofEachTable) { content in
            costs[content.table, default: 0] += Int64(try content.encoded(.standard).count)
        }
        return costs
    }
}
