public import StoreOperations

/// The findings of a pruning of kept copies.
public struct CopyPruning: Sendable {
    /// The copies to remove, the oldest of each store first.
    public let findings: [(copy: KeptCopy, removal: KeptCopies.Removal)]
    /// The content of the folder after that.
    public let left: KeptCopies.Listing
}
