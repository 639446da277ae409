/// The first byte of a segment of rows, or of a delta.
///
/// Source: `Protocol/COLUMNS.md` 2, `Protocol/DELTA.md` 3.
enum SegmentForm: UInt8 {
    /// The content follows.
    case stored = 0
    /// The content's size follows, a varint, and its raw deflate stream (RFC 1951).
    case deflated = 1
    /// In a delta only: the runs of the dictionary follow, and then the same as in `deflated`. The text and the stream may refer to the
    /// dictionary.
    case preset = 2
    /// As `stored` and `deflated`, but the content begins with runs of pages, which are the dictionary. In a segment of rows only.
    case storedWithRuns = 3
    case deflatedWithRuns = 4
}
