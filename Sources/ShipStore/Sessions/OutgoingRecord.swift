import ShipCompression
import ShipProtocol
import StoreFiles

/// What this side keeps of a shipment on its way out, so that another session can go on with it where the link breaks. It never fails
/// a shipment.
protocol OutgoingRecord: Sendable {
    /// What an earlier session kept of the part that was open.
    func earlierStream() -> PartStream?

    /// A part is opened at its beginning.
    func begin(_ header: PartStream.Header)

    /// The data of one DATA are about to go, which are the next of the part, from its beginning or after `earlierStream()`.
    func add(_ data: [UInt8], _ note: PieceNote)

    /// The shipment has broken off.
    func breakOff()

    /// It has come to its end, whichever: there is nothing to go on with.
    func finish()
}

/// A part that goes on where an earlier session left it.
struct EarlierStream {
    let start: StreamStart
    let stream: PartStream
    /// DATA that the consumer has as a whole, and bytes that it has of the next one.
    let place: (whole: Int, bytes: Int)

    /// What there is of it, for the encoder of what follows.
    var pieces: EarlierPieces {
        EarlierPieces(stream.entries.map { PieceNote(rawValue: $0.note) }) { [stream] in try stream.data($0) }
    }
}

extension OutgoingShipment {
    /// How a part can go on.
    ///
    /// - Returns: `nil` where it has to go from its beginning: what the consumer has is not what this side knows, or nothing is known.
    func earlier(_ wanted: WantedPart) -> EarlierStream? {
        guard let start = wanted.start, let stream = record?.earlierStream(),
            stream.header
                == PartStream.Header(start.encoding, of: manifest.parts[wanted.index], over: wanted.base),
            start.encoding.isPossible(for: self, over: base(wanted.base))
        else { return nil }
        do {
            // Of what was being written when this program was killed.
            if stream.entries.last?.isWhole == false { try stream.dropLast() }
            guard let place = stream.place(of: start.position), start.position < stream.position || !stream.isComplete,
                try stream.digest(upTo: start.position) == start.sha256
            else { return nil }
            let earlier = EarlierStream(start: start, stream: stream, place: place)
            // Blocks have nothing else to fall back to.
            if start.encoding == .blocks { _ = try earlier.pieces.offset(inPartOf: stream.header.size) }
            return earlier
        } catch {
            return nil
        }
    }
}

extension PartStream {
    /// Whether the last piece of the part is there.
    fileprivate var isComplete: Bool { entries.last.map { PieceNote(rawValue: $0.note).isLast } ?? false }
}
