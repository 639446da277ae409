/// New bytes, followed by bytes that are copied from a source.
///
/// Source: `Protocol/DELTA.md` section 7.
struct Piece: Hashable {
    var literal: [UInt8]
    /// Where the copy begins in the source.
    var offset: Int64
    var length: Int64

    /// The same as pieces whose copies are not too long.
    private var steps: [Piece] {
        var (steps, rest) = ([Piece](), self)
        while rest.length > SegmentLimits.copySize {
            steps.append(Piece(literal: rest.literal, offset: rest.offset, length: Int64(SegmentLimits.copySize)))
            rest = Piece(
                literal: [], offset: rest.offset + Int64(SegmentLimits.copySize),
                length: rest.length - Int64(SegmentLimits.copySize))
        }
        return steps + [rest]
    }

    /// - Parameter end: Where the last copy ended; 0 before the first.
    static func areas(_ pieces: [Piece], after end: inout Int64) -> SegmentAreas {
        var areas = SegmentAreas()
        areas.unsigned(DeltaTag.pieces.rawValue)
        let steps = pieces.flatMap(\.steps)
        areas.count(steps.count)
        for piece in steps {
            areas.count(piece.literal.count)
            areas.text += piece.literal
            areas.unsigned(UInt64(piece.length))
            guard piece.length > 0 else { continue }
            areas.signed(piece.offset - end)
            end = piece.offset + piece.length
        }
        return areas
    }
}
