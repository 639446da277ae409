public import StoreOperations

/// What a pruning of kept copies has found.
public struct CopyPruning: Sendable {
    /// The copies to remove, the oldest of each store first.
    public let findings: [(copy: KeptCopy, removal: KeptCopies.Removal)]
    /// The content of the folder after that.
    public let left: KeptCopies.Listing
}
