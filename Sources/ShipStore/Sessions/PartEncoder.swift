import ShipCompression
import ShipProtocol
import StoreFiles

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
    func isPossible(for shipment: OutgoingShipment) -> Bool {
        switch self {
        case .blocks: true
        case .columns:
            shipment.manner.codec != nil && shipment.indexShapes != nil && shipment.manner.encoding == .columns
        }
    }

    /// - Parameter isAwaited: Whether somebody waits at the other end.
    func encoder(for shipment: OutgoingShipment, isAwaited: Bool) -> any PartEncoder {
        switch self {
        case .blocks: BlocksPartEncoder(shipment: shipment)
        case .columns: ColumnsPartEncoder(shipment: shipment, isAwaited: isAwaited)
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
        let manner = shipment.manner
        do {
            let encoder = try codec.makeEncoder(
                StoreToEncode(
                    path: shipment.path(ofPart: 0), facts: shipment.manifest.store, shapes: shipment.indexShapes ?? [:],
                    dial: dial, selfCheck: manner.selfCheck, cores: manner.cores, isAwaited: isAwaited,
                    room: try shipment.workingRoom))
            try await encoder.encode { segment, position in
                try await deliver(
                    EncodedPiece(
                        part: 0, data: PartData(segment.bytes, isLast: position == .last),
                        partBytes: segment.storeBytes))
            }
        } catch ColumnsFailure.selfCheckFailed {
            throw EncodingGivenUp(cause: .selfCheckFailed)
        } catch ColumnsFailure.unsuitable {
            throw EncodingGivenUp(cause: .unsuitable)
        }
    }
}
