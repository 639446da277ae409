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
    /// Of the part, that it stands for: about, and 0 where that cannot be told piece by piece.
    let partBytes: Int64
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
    func encoder(
        for shipment: OutgoingShipment, over base: OutgoingBase?, limit: Int64, isAwaited: Bool
    ) -> any PartEncoder {
        switch self {
        case .blocks: BlocksPartEncoder(shipment: shipment)
        case .columns: ColumnsPartEncoder(shipment: shipment, isAwaited: isAwaited)
        case .delta: DeltaPartEncoder(shipment: shipment, base: base, limit: limit)
        }
    }
}

private struct BlocksPartEncoder: PartEncoder {
    let shipment: OutgoingShipment

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        let sizes = shipment.manifest.parts.map(\.size)
        let sources = parts.map { index in
            // Opened for each read: there may be thousands of parts, and a read takes a whole block.
            BlockEncoder.Source(part: index, size: sizes[index]) { [path = shipment.path(ofPart: index)] in
                try OpenFile.readingWithoutFollowing(path).read($1, at: $0)
            }
        }
        try await BlockEncoder(dial, cores: shipment.manner.cores).encode(sources) { placed in
            try await deliver(
                EncodedPiece(
                    part: placed.part, data: PartData(placed.block.bytes, isLast: placed.isLast),
                    partBytes: Int64(placed.block.decodedSize)))
        }
    }
}

private struct ColumnsPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    let isAwaited: Bool

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        guard let codec = shipment.manner.codec else { throw EncodingGivenUp(cause: .unsuitable) }
        do {
            let encoder = try codec.makeEncoder(try shipment.storeToEncode(dial, isAwaited: isAwaited))
            try await encoder.encode { segment, position in
                try await deliver(EncodedPiece(ofStore: segment, position))
            }
        } catch ColumnsFailure.selfCheckFailed {
            throw EncodingGivenUp(cause: .selfCheckFailed)
        } catch ColumnsFailure.unsuitable {
            throw EncodingGivenUp(cause: .unsuitable)
        }
    }
}

private struct DeltaPartEncoder: PartEncoder {
    let shipment: OutgoingShipment
    let base: OutgoingBase?
    let limit: Int64

    func encode(_ parts: [Int], _ dial: EffortDial, deliver: (EncodedPiece) async throws -> Void) async throws {
        // What it is by its digest is looked at once, when it is needed.
        guard let codec = shipment.manner.codec, let base = base?.open() else {
            throw EncodingGivenUp(cause: .baseGone)
        }
        defer { withExtendedLifetime(base) {} }
        do {
            let encoder = try codec.makeDeltaEncoder(
                try shipment.storeToEncode(dial, isAwaited: true),
                BaseToReferTo(base.path, goesByRows: shipment.indexShapes != nil, limit: limit))
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
        }
    }
}

extension EncodedPiece {
    fileprivate init(ofStore segment: EncodedSegment, _ position: EncodedSegment.Position) {
        self.init(
            part: 0, data: PartData(segment.bytes, isLast: position == .last), partBytes: segment.storeBytes)
    }
}

extension OutgoingShipment {
    fileprivate func storeToEncode(_ dial: EffortDial, isAwaited: Bool) throws -> StoreToEncode {
        StoreToEncode(
            path: path(ofPart: 0), facts: manifest.store, shapes: indexShapes ?? [:], dial: dial,
            selfCheck: manner.selfCheck, cores: manner.cores, isAwaited: isAwaited, room: try workingRoom)
    }
}
