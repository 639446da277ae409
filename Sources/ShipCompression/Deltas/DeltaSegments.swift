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
    private let make: Making
    private let earlier: EarlierPieces?

    /// Makes all segments, and gives one after the other. It asks between them whether anybody still wants them.
    private typealias Making =
        @Sendable (
            SegmentEffort, _ isClosed: @escaping @Sendable () -> Bool,
            _ deliver: @escaping (EncodedSegment, EncodedSegment.Position) throws -> Void
        ) throws -> Void

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
        self.earlier = earlier
        make = { effort, isClosed, deliver in
            let encoder = DeltaEncoder(
                from: PagesUntilClosed(try openBase(), isClosed), to: PagesUntilClosed(try pages.open(), isClosed),
                shapes: shapes, effort: effort, makeSpillFile: pages.makeSpillFile)
            try encoder.encode(limit: limit, deliver: deliver)
        }
    }

    /// Of a file of any bytes.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of what the receiver has.
    ///   - open: Opens that, and what it is to have.
    package init(
        _ dial: EffortDial, over digest: [UInt8], limit: Int64,
        open: @escaping @Sendable () throws -> (base: any ByteSource, new: any ByteSource),
        goingOnAfter earlier: EarlierPieces? = nil
    ) {
        self.dial = dial
        self.earlier = earlier
        make = { effort, isClosed, deliver in
            let (base, new) = try open()
            let encoder = FileDeltaEncoder(
                from: BytesUntilClosed(base, isClosed), digest, to: BytesUntilClosed(new, isClosed), effort: effort)
            try encoder.encode(limit: limit, deliver: deliver)
        }
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
                    var (index, skipped) = (0, Int64(0))
                    try make(SegmentEffort(level), isClosed) { segment, position in
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
