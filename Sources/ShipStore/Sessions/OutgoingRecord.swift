import ShipCompression
import ShipProtocol
import StoreFiles

/// What this side keeps of a shipment on its way out, so that another session can go on with it where the link breaks. It never fails
/// a shipment.
protocol OutgoingRecord: Sendable {
    /// Takes up what an earlier session kept of the part that was open.
    ///
    /// - Parameter isOfUse: Asked of each that there is.
    /// - Returns: The first that is; `nil` for none.
    func goOn(where isOfUse: (PartStream) -> Bool) -> PartStream?

    /// A part is opened at its beginning.
    func begin(_ header: PartStream.Header)

    /// The data of one DATA are about to go, which are the next of the part, from its beginning or after what was taken up.
    func add(_ data: [UInt8], _ note: PieceNote)

    /// The shipment has broken off: from here on it is another session's.
    func breakOff()

    /// It has come to its end, whichever: there is nothing to go on with, unless it has broken off.
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
        guard let start = wanted.start, start.encoding.isPossible(for: wanted.index, of: self, over: base(wanted.base))
        else {
            return nil
        }
        let header = PartStream.Header(start.encoding, of: manifest.parts[wanted.index], over: wanted.base)
        var found: EarlierStream?
        _ = record?.goOn { stream in
            guard stream.header == header else { return false }
            found = try? EarlierStream(stream, at: start)
            return found != nil
        }
        return found
    }
}

extension EarlierStream {
    /// - Returns: `nil` if it is not the stream of which the consumer has the beginning, or nothing could follow.
    fileprivate init?(_ stream: PartStream, at start: StreamStart) throws {
        // Of what was being written when this program was killed.
        if stream.entries.last?.isWhole == false { try stream.dropLast() }
        guard let place = stream.place(of: start.position), start.position < stream.position || !stream.isComplete,
            try stream.digest(upTo: start.position) == start.sha256
        else { return nil }
        self.init(start: start, stream: stream, place: place)
        // Blocks have nothing else to fall back to.
        if start.encoding == .blocks { _ = try pieces.offset(inPartOf: stream.header.size) }
    }
}

extension PartStream {
    /// Whether the last piece of the part is there.
    fileprivate var isComplete: Bool { entries.last.map { PieceNote(rawValue: $0.note).isLast } ?? false }
}
