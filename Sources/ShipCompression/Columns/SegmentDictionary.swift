/// What the text area of each segment may refer to, as if it stood before it.
///
/// Source: `Protocol/columns-dictionary.txt`.
enum SegmentDictionary {
    static let bytes: [UInt8] = []
}
