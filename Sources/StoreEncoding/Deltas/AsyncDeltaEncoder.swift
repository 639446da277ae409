package import ShipCompression
package import ShipProtocol
package import StoreFormat

/// Encodes a delta on a thread of its own, and delivers its segments in order.
///
/// To continue after the segments of an earlier session, it makes the same delta again, at the level of that session. It compares the
/// segments that exist, and delivers the others.
///
/// Memory: that of `DeltaEncoder`, and two segments.
package struct AsyncDeltaEncoder: Sendable {
    private static let mostUnderWay = 2

    let settings: CompressionSettings
    /// Makes all segments, and delivers them in order. It blocks, and throws `CancellationError` when the task is cancelled.
    let make: @Sendable (SegmentEffort, _ deliver: @escaping (EncodedSegment) throws -> Void) throws -> Void

    /// See `StoreCodec`.
    ///
    /// - Parameter earlier: The segments of an earlier session.
    package func encode(
        goingOnAfter earlier: EarlierPieces? = nil, deliver: (EncodedSegment) async throws -> Void
    ) async throws {
        let channel = WorkChannel<EncodedSegment>(capacity: Self.mostUnderWay)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: channel.thread) {
                await channel.run { try makeRest(after: earlier, put: $0) }
            }
            while let segment = try await channel.next()?.take() {
                try await deliver(segment)
                channel.finishOne()
            }
        }
    }

    /// Makes all segments, and puts those that no earlier session has made.
    private func makeRest(after earlier: EarlierPieces?, put: @escaping (EncodedSegment) throws -> Void) throws {
        let level = try earlier?.level ?? settings.level
        var (index, skipped) = (0, Int64(0))
        try make(SegmentEffort(level)) { segment in
            defer { index += 1 }
            if let earlier, index < earlier.count {
                guard earlier.notes[index].isLast == segment.isLast, try earlier.read(index) == segment.bytes else {
                    throw EarlierPieces.Mismatch()
                }
                skipped += segment.storeBytes
                return
            }
            let new = EncodedSegment(
                bytes: segment.bytes, storeBytes: segment.storeBytes + skipped, setting: UInt64(level.value),
                isLast: segment.isLast)
            skipped = 0
            try put(new)
        }
        guard index >= earlier?.count ?? 0 else { throw EarlierPieces.Mismatch() }
    }
}

extension AsyncDeltaEncoder {
    /// - Parameters:
    ///   - shapes, unchanged: See `DeltaEncoder`.
    ///   - limit: Most bytes of all segments together.
    ///   - openBase: Opens the file that the receiver has.
    ///   - open: Opens the one that it will have. Reading the pages of both throws `CancellationError` when the task is cancelled.
    ///   - makeSpillFile: See `StoreBuilder.Target`.
    package init(
        _ settings: CompressionSettings, shapes: [String: IndexShape]?, unchanged: Set<ForeignText> = [], limit: Int64,
        openBase: @escaping @Sendable () throws -> any PageSource,
        open: @escaping @Sendable () throws -> any PageSource,
        makeSpillFile: @escaping @Sendable () throws -> any SpillFile
    ) {
        self.init(settings: settings) { effort, deliver in
            let encoder = DeltaEncoder(
                from: try openBase(), to: try open(), shapes: shapes, unchanged: unchanged, effort: effort,
                makeSpillFile: makeSpillFile)
            try encoder.encodeIfSmaller(limit: limit, deliver: deliver)
        }
    }

    /// A delta of a file of any bytes.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of the file that the receiver has.
    ///   - open: Opens that file, and the one that it will have. Both throw `CancellationError` when the task is cancelled.
    package init(
        _ settings: CompressionSettings, over digest: [UInt8], limit: Int64,
        open: @escaping @Sendable () throws -> (base: any ByteSource, new: any ByteSource)
    ) {
        self.init(settings: settings) { effort, deliver in
            let (base, new) = try open()
            let segments = try EncodedSegment.delta(from: base, digest, to: new, effort: effort, limit: limit)
            for segment in segments { try deliver(segment) }
        }
    }
}
