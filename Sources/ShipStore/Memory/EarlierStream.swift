import ShipCompression
import ShipProtocol
import StoreFiles

/// A part that goes on where an earlier session left it.
struct EarlierStream {
    let start: StreamStart
    let stream: PartStream
    /// How many DATA the consumer has complete, and how many bytes of the next one.
    let place: (whole: Int, bytes: Int)

    /// The recorded pieces, for the encoder of those that follow.
    var pieces: EarlierPieces {
        EarlierPieces(stream.entries.map { PieceNote(rawValue: $0.note) }) { [stream] in try stream.data($0) }
    }
}

extension EarlierStream {
    /// - Returns: `nil` if the consumer has the beginning of another stream, or all of this one.
    init?(_ stream: PartStream, at start: StreamStart) throws {
        // This program may have been killed while it wrote the last entry.
        if stream.entries.last?.isWhole == false { try stream.dropLast() }
        guard let place = stream.place(of: start.position), start.position < stream.position || !stream.isComplete,
            try stream.digest(upTo: start.position) == start.sha256
        else { return nil }
        self.init(start: start, stream: stream, place: place)
        // Blocks have no other encoding to fall back to: what would fail later must fail here.
        if start.encoding == .blocks { _ = try pieces.offset(inPartOf: stream.header.size) }
    }
}
