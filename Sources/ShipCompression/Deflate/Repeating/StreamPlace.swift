/// Where a deflate stream stands in a string, with its wrapping: the whole of it, or within what an app puts around it.
enum StreamPlace {
    /// Records have small heads: a stream begins at most so many bytes behind the first.
    private static let farthest = 64
    /// A raw stream says little of itself, and is looked for at few places: behind nothing, a byte or two of a kind or a version, and
    /// numbers of 32 and 64 bits.
    private static let rawPlaces: Set<Int> = [0, 1, 2, 4, 5, 8, 12, 16]

    /// Whether all of a string is one stream that stands for no more than can be taken.
    static func isStream(_ string: ArraySlice<UInt8>) -> Bool {
        guard string.count >= DeflateRepetition.shortest else { return false }
        let wrapping = DeflateWrapping(of: string)
        return DeflatedBlob.inflated(string.dropFirst(wrapping.headSize).dropLast(wrapping.tailSize)) != nil
    }

    /// - Parameter care: Pictures are looked into with great care only: they take long, and for each of their bytes many are looked at.
    /// - Returns: `nil` if none is found; the stream may turn out to be none that can be made again.
    static func inside(_ string: ArraySlice<UInt8>, _ care: SegmentEffort.Care) -> Range<Int>? {
        guard string.count >= DeflateRepetition.shortest else { return nil }
        if string.starts(with: PNG.signature) { return care == .great ? PNG.stream(in: string) : nil }
        if isStream(string) { return string.indices }
        // Streams are noise, and most texts are ASCII.
        guard string.prefix(2 * farthest).contains(where: { $0 >= 0x80 }) else { return nil }
        for offset in 0...min(farthest, string.count - DeflateRepetition.shortest) {
            let rest = string.dropFirst(offset)
            let wrapping = DeflateWrapping(of: rest)
            guard wrapping != .raw || rawPlaces.contains(offset) && beginsOwnCodes(rest),
                let (_, end) = DeflatedBlob.stream(in: rest.dropFirst(wrapping.headSize)),
                string.endIndex - end >= wrapping.tailSize, end - rest.startIndex >= DeflateRepetition.shortest
            else { continue }
            return rest.startIndex..<end + wrapping.tailSize
        }
        return nil
    }

    /// Whether a block with codes of its own may begin here, as it does in all streams that are worth the trouble.
    ///
    /// Source: RFC 1951 3.2.7, whose counts leave two values each that none has.
    private static func beginsOwnCodes(_ stream: ArraySlice<UInt8>) -> Bool {
        guard let second = stream.dropFirst().first, let first = stream.first else { return false }
        return first & 6 == 4 && first >> 3 < 30 && second & 0x1f < 30
    }
}

/// Pictures, whose points are one zlib stream.
///
/// Source: RFC 2083 (PNG), sections 3 and 4.1.1.
private enum PNG {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// Chunks before the points.
    private static let mostChunks = 32
    /// The length and the type of a chunk before it, and a checksum behind it.
    private static let (head, tail) = (8, 4)
    private static let points = Array("IDAT".utf8)
    private static let lengthOfHeader = 13

    /// - Returns: `nil` if the points are in several chunks, or are too many.
    static func stream(in picture: ArraySlice<UInt8>) -> Range<Int>? {
        var rest = picture.dropFirst(signature.count)
        guard rest.number == lengthOfHeader, size(rest.dropFirst(head)) <= SegmentLimits.deflatedString else {
            return nil
        }
        for _ in 0..<mostChunks {
            guard let length = rest.number, length <= rest.count - head - tail else { return nil }
            let start = rest.startIndex + head
            let isPoints = rest.dropFirst(4).starts(with: points)
            rest = rest.dropFirst(head + length + tail)
            if isPoints { return rest.dropFirst(4).starts(with: points) ? nil : start..<start + length }
        }
        return nil
    }

    /// Bytes of the points, each row with one for its filter; those that are interlaced have a few more.
    private static func size(_ header: ArraySlice<UInt8>) -> Int {
        guard let width = header.number, let height = header.dropFirst(4).number, let depth = header.dropFirst(8).first,
            let color = header.dropFirst(9).first
        else { return .max }
        let samples = color == 2 ? 3 : color == 4 ? 2 : color == 6 ? 4 : 1
        let (size, isOver) = (1 + (width * samples * Int(depth) + 7) / 8).multipliedReportingOverflow(by: height)
        return isOver ? .max : size
    }
}

extension ArraySlice<UInt8> {
    /// The 32 bits at the beginning, big-endian.
    fileprivate var number: Int? { count < 4 ? nil : prefix(4).reduce(0) { $0 << 8 | Int($1) } }
}
