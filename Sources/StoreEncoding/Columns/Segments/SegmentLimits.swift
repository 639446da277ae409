/// The limits of a segment. Both sides check them before they allocate anything.
///
/// Source: `Protocol/COLUMNS.md` 2.
package enum SegmentLimits {
    /// Bytes of an encoded segment.
    package static let encodedSize = 4 * 1_048_576 + 1_024
    /// Bytes of all areas together, once inflated.
    package static let inflatedSize = 8 * 1_048_576
    /// Bytes of the text area once its long matches are resolved.
    package static let textSize = 8 * 1_048_576
    /// Bytes of one chunk.
    package static let chunkSize = 1_048_576
    /// Bytes of the records of one group.
    package static let groupSize = 4 * 1_048_576
    /// Bytes of the records and chunks of all calls together; less than `inflatedSize`, which tags and tables share.
    package static let contentSize = 6 * 1_048_576
    /// In all groups together.
    package static let rows = 1_048_576
    package static let columns = 32_767
    /// Integers, reals and strings that are decoded for one segment, with those within other encodings.
    package static let values = 67_108_864
    /// Bytes of all strings that are put together, and do not stand in the text area as they are.
    package static let builtSize = 33_554_432
    /// Bytes of one string that is deflated, and of all.
    package static let deflatedString = 1_048_576
    package static let deflatedStrings = 8 * 1_048_576
    /// Arrays in the strings of one encoding, and matches of their elements.
    package static let arrays = 1_048_576
    /// Elements of these arrays: as many as deflated strings hold.
    package static let elements = 4_194_304
    /// Fields of decimal numbers: a byte from 14 on stands for a number of each.
    static let decimalFields = 14
    /// Fields of runs of digits: a byte from 1 on stands for a run of each.
    static let digitFields = 8
    /// Bytes between two lines of base64.
    static let lineEnding = 16
    /// Words of a segment that bytes stand for, their bytes in all, and spans of literals that have such bytes.
    static let words = 65_025
    static let wordBytes = 1_048_576
    static let wordSpans = 8192
    /// Encodings within one another.
    package static let depth = 8
    /// Columns of fewer values keep their numbers in the control area.
    static let smallColumn = 16
}
