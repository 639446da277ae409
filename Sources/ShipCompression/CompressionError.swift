/// Why bytes could not be encoded or decoded.
public enum CompressionError: Error, Hashable, Sendable {
    /// The encoded bytes are not what their encoding says they are.
    case damaged(Flaw)
    /// A file has fewer bytes than when its digest was taken.
    case sourceChanged(part: Int)
    /// There is not even 1 MiB of memory left, which deflate needs.
    case outOfMemory
    /// A record is not in the one encoding that its values have; see `RowGroup`.
    case notCanonical
    /// A call would take a segment over one of `SegmentLimits`.
    case segmentFull

    public enum Flaw: Hashable, Sendable {
        /// Not a zlib stream, or its Adler-32 is wrong.
        case notZlib
        /// It goes on beyond the decoded size, or ends before it.
        case decodedSize
        /// Bytes follow the end of the stream.
        case trailingBytes
        /// A preset dictionary where there is none, none where there is one, or another one.
        case dictionary
        /// A base that is not what a delta was made against, or not whole.
        case base
        /// Rows that do not make a store, or not the one that was announced.
        case rows
        /// A segment ends before its values do, goes on after them, or says what no segment can.
        case segment
        /// A segment asks for more than `SegmentLimits` allow.
        case segmentLimit
    }
}
