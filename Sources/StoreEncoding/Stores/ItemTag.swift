/// The kind of an item of a segment.
///
/// Source: `Protocol/COLUMNS.md` section 1.1.
enum ItemTag: UInt64, Hashable, Sendable {
    case settings = 0
    case rows = 1
    case longRow = 2
    case chunk = 3
    case table = 4
    case entries = 5
    case derived = 6
    case end = 7
    /// A table whose rows come after those of all other trees.
    case later = 8
    /// `FullTextLeaves`.
    case leaves = 9
}
