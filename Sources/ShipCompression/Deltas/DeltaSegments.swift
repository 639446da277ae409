import Dispatch
import ShipProtocol
package import StoreFormat

/// A store into the segments of a delta against another one: read and encoded on a thread of its own, and delivered in order.
///
/// A delta goes on after segments of an earlier session only as the same delta: it is made again as a whole, at the level of then,
/// and what has been there is compared and not delivered.
///
/// Memory: that of `DeltaEncoder`, and two segments under way.
package struct DeltaSegments: ColumnsEncoder {
    private static let mostUnderWay = 2

    private let dial: EffortDial
    private let shapes: [String: IndexShape]?
    private let limit: Int64
    private let openBase: @Sendable () throws -> any PageSource
    private let pages: StoreEncoder.Pages
    private let earlier: EarlierPieces?

    /// - Parameters:
    ///   - shapes: See `DeltaEncoder`.
    ///   - limit: Bytes of all segments, at most.
    ///   - openBase: Opens what the receiver has.
    ///   - earlier: What has been made of the delta before.
    package init(
        _ dial: EffortDial, shapes: [String: IndexShape]?, limit: Int64,
        openBase: @escaping @Sendable () throws -> any PageSource, _ pages: StoreEncoder.Pages,
        goingOnAfter earlier: EarlierPieces? = nil
    ) {
        self.dial = dial
        self.shapes = shapes
        self.limit = limit
        self.openBase = openBase
        self.pages = pages
        self.earlier = earlier
    }

    private struct Piece: Sendable {
        let segment: EncodedSegment
        let position: EncodedSegment.Position
    }

    package func encode(deliver: (EncodedSegment, EncodedSegment.Position) async throws -> Void) async throws {
        let channel = WorkChannel<Piece>(capacity: Self.mostUnderWay)
        encode(into: channel)
        do {
            while let piece = try await channel.next()?.take() {
                try await deliver(piece.segment, piece.position)
                channel.finishOne()
            }
        } catch {
            await channel.close()
            throw error
        }
        await channel.close()
    }

    /// The walk blocks: it has a thread of its own, as the work of a serial queue has, and not one of those that tasks share.
    private func encode(into channel: WorkChannel<Piece>) {
        DispatchQueue(label: "ship-store delta").async { [self] in
            channel.end(
                Result {
                    let isClosed = { @Sendable in channel.isClosed }
                    let level = try earlier?.level ?? dial.level
                    let effort = SegmentEffort(level)
                    let encoder = DeltaEncoder(
                        from: PagesUntilClosed(try openBase(), isClosed),
                        to: PagesUntilClosed(try pages.open(), isClosed), shapes: shapes,
                        effort: effort, makeSpillFile: pages.makeSpillFile)
                    var (index, skipped) = (0, Int64(0))
                    try encoder.encode(limit: limit) { segment, position in
                        defer { index += 1 }
                        if let earlier, index < earlier.count {
                            guard earlier.notes[index].isLast == (position == .last),
                                try earlier.read(index) == segment.bytes
                            else { throw EarlierPieces.Mismatch() }
                            skipped += segment.storeBytes
                            return
                        }
                        let new = EncodedSegment(
                            bytes: segment.bytes, storeBytes: segment.storeBytes + skipped, setting: UInt64(level.value)
                        )
                        skipped = 0
                        try channel.put(Piece(segment: new, position: position))
                    }
                    guard index >= earlier?.count ?? 0 else { throw EarlierPieces.Mismatch() }
                })
        }
    }
}
