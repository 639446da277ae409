/// Looks for deflate streams in strings, with their wrapping: a string may be one, or an app may have put something around it.
///
/// What looks like a stream has to be inflated to find out. A search inflates a given number of bytes in all, and finds nothing more after
/// that.
///
/// A class, because its memory goes from one string to the next.
package final class StreamSearch {
    /// How many bytes it may still inflate. The last attempt may have taken a few more than there were.
    package private(set) var bytesLeft: Int
    /// The most bytes that the points of a picture may be; `nil` if pictures are not looked into.
    private let pictures: Int?
    private lazy var inflater = BlobInflater()
    private let tables = MatchTables()
    private var found = FoundStreams()
    /// How many places may still be tried for streams that cannot be made again: some tenths of a second in all.
    private var vain = 1 << 25

    /// Records have small heads: a stream begins at most this many bytes behind the first.
    private static let farthest = 64
    /// A raw stream has no head to know it by, so that the search tries few places: the beginning, behind a byte or two of a kind or a
    /// version, and behind numbers of 32 and 64 bits. Each is a bit.
    private static let rawPlaces = [0, 1, 2, 4, 5, 8, 12, 16].reduce(UInt64(0)) { $0 | 1 << UInt64($1) }

    /// - Parameter pictures: The most bytes that the points of a picture may be; `nil` if pictures are not looked into. They take long, and
    ///   zlib looks at many bytes for each of theirs.
    package init(bytes: Int, pictures: Int?) { (bytesLeft, self.pictures) = (bytes, pictures) }

    /// Whether a string is one stream to its last byte, and stands for no more than can be taken.
    package func isStream(_ string: ArraySlice<UInt8>) -> Bool { content(of: string) != nil }

    /// Whether a string is a stream or holds one. It may turn out that the stream cannot be made again.
    package func hasStream(_ string: ArraySlice<UInt8>) -> Bool { stream(in: string) != nil }

    /// By how many bytes a string is longer when the first stream in it is inflated, if it is.
    package func growth(of string: ArraySlice<UInt8>) -> Int {
        guard string.count >= DeflateRecompression.shortest, bytesLeft > 0, let (place, content) = search(string) else {
            return 0
        }
        return max(0, (content?.count ?? 0) - place.count)
    }

    /// A stream that stands for more bytes than so many times its own has little to give, and takes long.
    private static let mostTimes = 64

    /// The first stream in a string, and what makes it again.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that the stream may stand for.
    ///   - growth: How many more bytes than it takes it may stand for.
    ///   - hint: As for `DeflateRecompression`.
    /// - Returns: `nil` if the search finds none, or it cannot be made again.
    package func repetition(
        in string: ArraySlice<UInt8>, limit: Int, growth: Int, hint: DeflateParameters?
    ) -> (place: Range<Int>, found: DeflateRecompression)? {
        guard var stream = stream(in: string) else { return nil }
        let start = string.startIndex + stream.place.lowerBound
        let place = start..<start + stream.place.count
        let most = min(limit, place.count + growth, place.count * Self.mostTimes)
        if let trial = stream.trial, trial.tells(limit: most, hint: hint) {
            guard let result = trial.result, result.content.count <= most else { return nil }
            return (place, result)
        }
        let result = DeflateRecompression(
            of: string[place], content: stream.content, limit: most, hint: hint, in: tables, vain: &vain)
        stream.trial = FoundStream.Trial(hint: hint, limit: most, result: result)
        found.remember(stream, in: string)
        guard let result else { return nil }
        return (place, result)
    }

    private func stream(in string: ArraySlice<UInt8>) -> FoundStream? {
        guard string.count >= DeflateRecompression.shortest, bytesLeft > 0 else { return nil }
        if let known = found.stream(in: string) { return known }
        guard let (place, content) = search(string) else { return nil }
        let start = place.lowerBound - string.startIndex
        let stream = FoundStream(place: start..<start + place.count, content: content)
        found.remember(stream, in: string)
        return stream
    }

    /// - Returns: Where the first stream is, and what it stands for if it was inflated.
    private func search(_ string: ArraySlice<UInt8>) -> (place: Range<Int>, content: [UInt8]?)? {
        if string.starts(with: Self.pictureSignature) {
            guard let pictures, let place = Self.points(of: string, limit: pictures) else { return nil }
            return (place, nil)
        }
        if let content = content(of: string) { return (string.indices, content) }
        // Streams are noise, and most texts are ASCII.
        guard string.prefix(2 * Self.farthest).contains(where: { $0 >= 0x80 }) else { return nil }
        for offset in 0...min(Self.farthest, string.count - DeflateRecompression.shortest) {
            let rest = string.dropFirst(offset)
            let wrapping = DeflateWrapping(of: rest)
            guard wrapping != .raw || Self.rawPlaces >> UInt64(offset) & 1 == 1 && Self.beginsOwnCodes(rest),
                let (content, end) = inflater?.beginning(of: rest.dropFirst(wrapping.headSize), within: &bytesLeft),
                string.endIndex - end >= wrapping.tailSize, end - rest.startIndex >= DeflateRecompression.shortest
            else { continue }
            return (rest.startIndex..<end + wrapping.tailSize, content)
        }
        return nil
    }

    /// - Returns: `nil` if the string is not one stream to its last byte, or stands for too much.
    private func content(of string: ArraySlice<UInt8>) -> [UInt8]? {
        guard string.count >= DeflateRecompression.shortest else { return nil }
        let wrapping = DeflateWrapping(of: string)
        let raw = string.dropFirst(wrapping.headSize).dropLast(wrapping.tailSize)
        return inflater?.content(of: raw, within: &bytesLeft)
    }

    /// Whether a block with codes of its own may begin here, as it does in all streams that are worth the trouble.
    ///
    /// Source: RFC 1951 3.2.7: of the counts of codes, two values each stand for nothing.
    private static func beginsOwnCodes(_ stream: ArraySlice<UInt8>) -> Bool {
        guard let second = stream.dropFirst().first, let first = stream.first else { return false }
        return first & 6 == 4 && first >> 3 < 30 && second & 0x1f < 30
    }

    // MARK: Pictures

    // The points of a PNG are one zlib stream. Source: RFC 2083, sections 3 and 4.1.1.
    private static let pictureSignature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// The most chunks before the points.
    private static let mostChunks = 32
    /// Bytes of a chunk before its data, its length and type, and behind it, a checksum.
    private static let (chunkHead, chunkTail) = (8, 4)
    private static let pointsType = Array("IDAT".utf8)
    private static let headerLength: Int64 = 13

    /// - Parameter limit: The most bytes of points.
    /// - Returns: Where the stream of the points is; `nil` if it is in several chunks, or stands for too much.
    private static func points(of picture: ArraySlice<UInt8>, limit: Int) -> Range<Int>? {
        var rest = picture.dropFirst(pictureSignature.count)
        guard rest.number == headerLength, pointsSize(rest.dropFirst(chunkHead)) <= limit else { return nil }
        for _ in 0..<mostChunks {
            guard let number = rest.number, let length = Int(exactly: number),
                length <= rest.count - chunkHead - chunkTail
            else { return nil }
            let start = rest.startIndex + chunkHead
            let isPoints = rest.dropFirst(4).starts(with: pointsType)
            rest = rest.dropFirst(chunkHead + length + chunkTail)
            if isPoints { return rest.dropFirst(4).starts(with: pointsType) ? nil : start..<start + length }
        }
        return nil
    }

    /// Bytes of the points: each row has one for its filter. Interlaced points have a few more.
    private static func pointsSize(_ header: ArraySlice<UInt8>) -> Int64 {
        guard let width = header.number, let height = header.dropFirst(4).number, let depth = header.dropFirst(8).first,
            let color = header.dropFirst(9).first
        else { return .max }
        let samples: Int64 = color == 2 ? 3 : color == 4 ? 2 : color == 6 ? 4 : 1
        let (size, isOver) = (1 + (width * samples * Int64(depth) + 7) / 8).multipliedReportingOverflow(by: height)
        return isOver ? .max : size
    }
}

extension ArraySlice<UInt8> {
    /// The 32 bits at the beginning, big-endian.
    fileprivate var number: Int64? { count < 4 ? nil : prefix(4).reduce(0) { $0 << 8 | Int64($1) } }
}
