/// A change in a tree, after rows that stay.
struct TreeEvent: Hashable {
    enum Kind: Int64, CaseIterable {
        /// Rows of the base are edited.
        case edit = 0
        /// Rows are new.
        case literal = 1
        /// There is only the jump.
        case skip = 2
        /// A long row; its record follows in pieces.
        case long = 3
    }

    /// Rows of the base that stay, before this event.
    var copies: Int
    var kind: Kind
    /// Rows that are edited or new.
    var count: Int
    /// Rows of the base that are skipped before the event's own.
    var jump: Int
    /// The difference of the rowids from the expected ones.
    var shift: Int64
}
