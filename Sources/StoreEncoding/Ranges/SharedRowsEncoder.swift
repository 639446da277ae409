package import ShipCompression
package import StoreFormat

extension AsyncDeltaEncoder {
    /// A delta over a store that only the consumer has. It cannot be decoded here: the digest of the store tells the consumer whether it is
    /// right.
    ///
    /// - Parameters:
    ///   - shared: What a search has found.
    ///   - shapes: Of the indexes, by their names.
    ///   - limit: Most bytes of all segments together.
    ///   - open: Opens the store. Reading its pages throws `CancellationError` when the task is cancelled.
    package init(
        _ settings: CompressionSettings, sharing shared: SharedRows, shapes: [String: IndexShape], limit: Int64,
        open: @escaping @Sendable () throws -> any PageSource
    ) {
        self.init(settings: settings) { effort, deliver in
            try Self.write(try open(), sharing: shared, shapes, effort, limit: limit, deliver: deliver)
        }
    }

    static func write(
        _ new: any PageSource, sharing shared: SharedRows, _ shapes: [String: IndexShape], _ effort: SegmentEffort,
        limit: Int64, deliver: @escaping (EncodedSegment) throws -> Void
    ) throws {
        var effort = effort
        effort.hasBase = true
        var output = try DeltaOutput(base: nil, effort, limit: limit, deliver: deliver)
        var walk = SharedRowsWalk(shared, try DeltaStore(new), shapes)
        try walk.run(&output)
        try output.finish()
    }
}
