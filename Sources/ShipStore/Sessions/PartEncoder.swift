import ShipCompression
import ShipProtocol
import StoreFiles
import StoreFormat

/// What makes the data of parts, in one encoding.
protocol PartEncoder: Sendable {
    /// Encodes parts, one after the other.
    ///
    /// - Parameters:
    ///   - parts: Rising indexes, of parts that the encoding suits.
    ///   - dial: How hard it works, from piece to piece.
    ///   - deliver: Called with one piece after the other. What it throws ends the encoding, and is thrown on.
    /// - Throws: `EncodingGivenUp` where the parts have to come in another encoding.
    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws
}

/// The data of one DATA.
struct EncodedPiece: Sendable {
    let part: Int
    let data: PartData
    /// Of the part, that it stands for: about, and 0 where that cannot be told piece by piece. The first after earlier ones stands for
    /// theirs, too.
    let partBytes: Int64
    /// What the encoder needs to go on after it in another session.
    let note: PieceNote
}

/// All that was sent of a part is to be taken back.
struct EncodingGivenUp: Error {
    let cause: RestartCause
}

extension PartEncoding {
    /// Whether the store can go in it, and its user has nothing against that.
    ///
    /// - Parameter base: What it may refer to.
    func isPossible(for shipment: OutgoingShipment, over base: OutgoingBase?) -> Bool {
        switch self {
        case .blocks: true
        case .columns:
            shipment.manner.codec != nil && shipment.indexShapes != nil && shipment.manner.encoding == .columns
        case .delta: shipment.manner.codec != nil && shipment.manner.encoding == .columns && base != nil
        }
    }

    /// - Parameters:
    ///   - base: What it may refer to.
    ///   - limit: Bytes that a delta may take.
    ///   - isAwaited: Whether somebody waits at the other end.
    ///   - earlier: Pieces of the first part that are there already, in this encoding and over the same base: it makes those that
    ///     follow.
    ///     A delta is then made to its end, whatever `limit` says, unless it comes to more than the store.
    func encoder(
        for shipment: OutgoingShipment, over base: OutgoingBase?, limit: Int64, isAwaited: Bool,
        goingOnAfter earlier: EarlierPieces? = nil
    ) -> any PartEncoder {
        switch self {
        case .blocks: BlocksPartEncoder(shipment: shipment, earlier: earlier)
        case .columns: ColumnsPartEncoder(shipment: shipment, isAwaited: isAwaited, earlier: earlier)
        case .delta:
            DeltaPartEncoder(
                shipment: shipment, base: base,
                limit: earlier == nil ? limit : max(limit, shipment.manifest.store.size), earlier: earlier)
        }
    }
}

private struct BlocksPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    /// Of the first part.
    let earlier: EarlierPieces?

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        let sizes = shipment.manifest.parts.map(\.size)
        let sources = parts.map { index in
            // Opened for each read: there may be thousands of parts, and a read takes a whole block.
            BlockEncoder.Source(part: index, size: sizes[index], goingOnAfter: index == parts.first ? earlier : nil) {
                [path = shipment.path(ofPart: index)] in
                try OpenFile.readingWithoutFollowing(path).read($1, at: $0)
            }
        }
        var skipped = earlier?.notes.reduce(0) { $0 + Int64(clamping: $1.setting) } ?? 0
        do {
            try await BlockEncoder(dial, cores: shipment.manner.cores).encode(sources) { placed in
                let size = placed.block.decodedSize
                let before = placed.part == parts.first ? skipped : 0
                skipped -= before
                try await deliver(
                    EncodedPiece(
                        part: placed.part, data: PartData(placed.block.bytes, isLast: placed.isLast),
                        partBytes: before + Int64(size), note: PieceNote(UInt64(size), isLast: placed.isLast)))
            }
        } catch is EarlierPieces.Mismatch {
            throw EncodingGivenUp(cause: .cannotGoOn)
        }
    }
}

private struct ColumnsPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    let isAwaited: Bool
    let earlier: EarlierPieces?

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        guard let codec = shipment.manner.codec else { throw EncodingGivenUp(cause: .unsuitable) }
        do {
            let encoder = try codec.makeEncoder(
                try shipment.storeToEncode(dial, isAwaited: isAwaited, goingOnAfter: earlier))
            try await encoder.encode { segment, position in
                try await deliver(EncodedPiece(ofStore: segment, position))
            }
        } catch ColumnsFailure.selfCheckFailed {
            throw EncodingGivenUp(cause: .selfCheckFailed)
        } catch ColumnsFailure.unsuitable {
            throw EncodingGivenUp(cause: .unsuitable)
        } catch is EarlierPieces.Mismatch {
            throw EncodingGivenUp(cause: .cannotGoOn)
        }
    }
}

private struct DeltaPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    let base: OutgoingBase?
    let limit: Int64
    let earlier: EarlierPieces?

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        // What it is by its digest is looked at once, when it is needed.
        guard let codec = shipment.manner.codec, let base = base?.open() else {
            throw EncodingGivenUp(cause: .baseGone)
        }
        defer { withExtendedLifetime(base) {} }
        do {
            let encoder = try codec.makeDeltaEncoder(
                try shipment.storeToEncode(dial, isAwaited: true, goingOnAfter: earlier),
                BaseToReferTo(
                    base.path, goesByRows: shipment.indexShapes != nil, limit: limit))
            try await encoder.encode { segment, position in
                try await deliver(EncodedPiece(ofStore: segment, position))
            }
        } catch let failure as DeltaFailure {
            switch failure {
            case .selfCheckFailed: throw EncodingGivenUp(cause: .selfCheckFailed)
            case .tooLarge: throw EncodingGivenUp(cause: .largeDelta)
            case .unsuitable: throw EncodingGivenUp(cause: .unsuitable)
            }
        } catch is StoreFlaw {
            throw EncodingGivenUp(cause: .unsuitable)
        } catch is EarlierPieces.Mismatch {
            throw EncodingGivenUp(cause: .cannotGoOn)
        }
    }
}

extension EncodedPiece {
    fileprivate init(ofStore segment: EncodedSegment, _ position: EncodedSegment.Position) {
        self.init(
            part: 0, data: PartData(segment.bytes, isLast: position == .last), partBytes: segment.storeBytes,
            note: PieceNote(segment.setting, isLast: position == .last))
    }
}

extension OutgoingShipment {
    fileprivate func storeToEncode(
        _ dial: EffortDial, isAwaited: Bool, goingOnAfter earlier: EarlierPieces?
    ) throws -> StoreToEncode {
        StoreToEncode(
            path: path(ofPart: 0), facts: manifest.store, shapes: indexShapes ?? [:], dial: dial,
            selfCheck: manner.selfCheck, cores: manner.cores, isAwaited: isAwaited, room: try workingRoom,
            goingOnAfter: earlier)
    }
}
