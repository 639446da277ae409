/// Which rows of a table are other ones than in the generation before.
public enum RowChanges: Hashable, Sendable {
    /// These, and no others.
    case rows(ChangedRows)
    /// Any row may be another one, and why the rows are not told one by one.
    case table(Reason)

    public enum Reason: String, Hashable, Sendable {
        /// There was no such table before: all of its rows are new.
        case new
        /// There is no such table any more.
        case gone
        /// The table is declared otherwise than before.
        case declaration
        /// More rows of the store changed than `ChangedRows.most`, or their keys are too long.
        case tooMany = "too-many"
        /// The two generations cannot be compared row by row: the one before is not kept any more, or it is a table WITHOUT ROWID that has
        /// a collation of the app's own or a row of more than 256 KiB.
        case unknown
    }
}
