/// The source of a tree of the result.
struct TreeSource: Hashable {
    /// The place of the tree in the base.
    let place: Int
    /// Whether it is the tree of the same name.
    let isNamed: Bool
    /// For each column of the result the column of the base that it is, `nil` for none; `nil` if the rows have the same columns.
    var columns: [Int?]?
}
