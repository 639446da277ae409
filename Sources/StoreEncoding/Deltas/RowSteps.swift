/// The rows of a tree beside those of its base, one step after the other.
protocol RowSteps {
    /// The rows of the last `sameLeaf`, and the places of the first of them.
    var common: (count: Int, firstRowid: Int64, lastRowid: Int64) { get }
    var commonPlaces: (old: Int, new: Int) { get }
    /// The rows of the last step; one that the step does not concern is stale.
    var old: DeltaRow { get }
    var new: DeltaRow { get }

    mutating func next() throws -> RowStep?
}
