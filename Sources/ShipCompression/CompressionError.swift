/// Why bytes could not be encoded or decoded.
public enum CompressionError: Error, Hashable, Sendable {
    /// The encoded bytes break a rule of their encoding.
    case damaged(Flaw)
    /// A file has fewer bytes than when its digest was taken.
    case sourceChanged(part: Int)
    /// Less than the 1 MiB of memory is left that deflate needs.
    case outOfMemory
    /// A record is not in the canonical encoding of its values; see `RowGroup`.
    case notCanonical
    /// A call would exceed one of the `SegmentLimits`.
    case segmentFull

    public enum Flaw: Hashable, Sendable {
        /// Not a zlib stream, or its Adler-32 is wrong.
        case notZlib
        /// The stream goes on beyond the decoded size, or ends before it.
        case decodedSize
        /// Bytes follow the end of the stream.
        case trailingBytes
        /// A preset dictionary where there is none, none where there is one, or another one.
        case dictionary
        /// A base that is not the one of the delta, or not intact.
        case base
        /// Rows that make no store, or another one than was announced.
        case rows
        /// A segment ends before its values do, goes on after them, or breaks another rule of its encoding.
        case segment
        /// A segment asks for more than `SegmentLimits` allow.
        case segmentLimit
        /// A part asks for more work than its bytes and what they make pay for, or takes too long.
        case work
    }
}
