/// The kind of an item.
///
/// Source: `Protocol/DELTA.md` section 2.
enum DeltaTag: UInt64 {
    case same = 0
    case part = 1
    case derived = 2
    case merged = 3
    case pieces = 4
    /// The next tree comes after all others, on so many pages.
    case later = 5
    /// `FullTextReader`.
    case leaves = 6
}
