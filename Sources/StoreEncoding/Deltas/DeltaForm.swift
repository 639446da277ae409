/// The first byte of a segment of a delta.
///
/// Source: `Protocol/DELTA.md` 3.
enum DeltaForm: UInt8 {
    /// The content follows.
    case stored = 0
    /// The content's size follows, a varint, and its raw deflate stream (RFC 1951).
    case deflated = 1
    /// The runs of the dictionary follow, and then the same as in `deflated`. The text and the stream may refer to the dictionary.
    case preset = 2
}
