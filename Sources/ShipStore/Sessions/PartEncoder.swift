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
    /// Whether a part can go in it, and its user has nothing against that.
    ///
    /// - Parameter base: What it may refer to.
    func isPossible(for part: Int, of shipment: OutgoingShipment, over base: OutgoingBase?) -> Bool {
        switch self {
        case .blocks: true
        case .columns:
            shipment.manner.codec != nil && shipment.indexShapes != nil && shipment.manner.encoding == .columns
        case .delta:
            shipment.manner.codec != nil && shipment.manner.encoding == .columns
                && base.map { part == 0 || shipment.source(ofPart: part, over: $0) != nil } ?? false
        }
    }

    /// - Parameters:
    ///   - isOfFiles: Whether it is for external files; a delta is of one of them then.
    ///   - base: What it may refer to.
    ///   - limit: Bytes that a delta of the store may take.
    ///   - isAwaited: Whether somebody waits at the other end.
    ///   - earlier: Pieces of the first part that are there already, in this encoding and over the same base: it makes those that
    ///     follow.
    ///     A delta is then made to its end, whatever `limit` says, unless it comes to more than the store.
    func encoder(
        for shipment: OutgoingShipment, isOfFiles: Bool, over base: OutgoingBase?, limit: Int64, isAwaited: Bool,
        goingOnAfter earlier: EarlierPieces? = nil
    ) -> any PartEncoder {
        switch self {
        case .blocks: BlocksPartEncoder(shipment: shipment, earlier: earlier)
        case .columns: ColumnsPartEncoder(shipment: shipment, isAwaited: isAwaited, earlier: earlier)
        case .delta where isOfFiles: FileDeltaPartEncoder(shipment: shipment, base: base, earlier: earlier)
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
            throw EncodingGivenUp(failure)
        } catch is StoreFlaw {
            throw EncodingGivenUp(cause: .unsuitable)
        } catch is EarlierPieces.Mismatch {
            throw EncodingGivenUp(cause: .cannotGoOn)
        }
    }
}

/// An external file by what changed since the one that was in its place.
private struct FileDeltaPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    let base: OutgoingBase?
    let earlier: EarlierPieces?

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        guard let base, let part = parts.first, parts.count == 1,
            let source = shipment.source(ofPart: part, over: base),
            let opened = base.openFile(source)
        else { throw EncodingGivenUp(cause: .baseGone) }
        defer { withExtendedLifetime(opened) {} }
        let size = shipment.manifest.parts[part].size
        do {
            let encoder = DeltaSegments(
                dial, over: source.sha256.bytes, limit: size / 2,
                open: { [path = shipment.path(ofPart: part)] in
                    // What is remembered may go at any time.
                    guard let base = try? FileContent(at: opened.path) else { throw CompressionError.damaged(.base) }
                    return (base, try FileContent(at: path))
                }, goingOnAfter: earlier)
            try await encoder.encode { segment, position in
                try await deliver(
                    EncodedPiece(of: segment, position, part: part, partBytes: position == .last ? size : 0))
            }
        } catch let failure as DeltaFailure {
            throw EncodingGivenUp(failure)
        } catch is CompressionError {
            throw EncodingGivenUp(cause: .baseGone)
        } catch is EarlierPieces.Mismatch {
            throw EncodingGivenUp(cause: .cannotGoOn)
        }
    }
}

extension EncodingGivenUp {
    fileprivate init(_ failure: DeltaFailure) {
        switch failure {
        case .selfCheckFailed: self.init(cause: .selfCheckFailed)
        case .tooLarge: self.init(cause: .largeDelta)
        case .unsuitable: self.init(cause: .unsuitable)
        }
    }
}

extension EncodedPiece {
    fileprivate init(ofStore segment: EncodedSegment, _ position: EncodedSegment.Position) {
        self.init(of: segment, position, part: 0, partBytes: segment.storeBytes)
    }

    fileprivate init(
        of segment: EncodedSegment, _ position: EncodedSegment.Position, part: Int, partBytes: Int64
    ) {
        self.init(
            part: part, data: PartData(segment.bytes, isLast: position == .last), partBytes: partBytes,
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
