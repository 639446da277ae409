/// The first byte of a segment of rows: what its content is like.
///
/// Source: `Protocol/COLUMNS.md` 2.
struct SegmentForm: OptionSet {
    let rawValue: UInt8

    /// The content's size follows, a varint, and its raw deflate stream (RFC 1951). Otherwise the content follows.
    static let deflated = SegmentForm(rawValue: 1)
    /// The content begins with runs of pages, which are the dictionary.
    static let runs = SegmentForm(rawValue: 2)
    /// Bytes of the literals stand for words.
    static let words = SegmentForm(rawValue: 4)

    static let all: SegmentForm = [.deflated, .runs, .words]
}
