/// The comparison of two trees at a row, or at the rows of a leaf.
enum RowStep: Hashable {
    /// Both sides have the row.
    case same
    /// Both sides have the rowid, with different values.
    case changed
    /// Only the base has the row.
    case old
    /// Only the result has the row.
    case new
    /// Both sides have the rows of `RowSteps.common`.
    case sameLeaf
}
