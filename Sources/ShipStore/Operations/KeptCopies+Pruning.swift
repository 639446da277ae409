import EssentialFoundation
public import ShipProtocol
public import StoreOperations

/// What a pruning of kept copies has found.
public struct CopyPruning: Sendable {
    public struct Finding: Hashable, Sendable {
        public let copy: KeptCopy
        public let removal: KeptCopies.Removal
    }

    /// What was to go, the oldest of each store first.
    public let findings: [Finding]
    /// What is in the folder after that.
    public let left: KeptCopies.Listing
}

extension KeptCopies {
    /// Removes copies that have had their time. Others may keep copies in the folder, prune it and restore from it
    /// meanwhile: a copy that somebody reads stays until the next pruning.
    ///
    /// - Parameters:
    ///   - retention: Which ones stay.
    ///   - name: Only copies of stores of this name.
    ///   - mode: Whether they go, or are only found.
    ///   - busyTimeout: How long to wait for others who change which copies there are.
    /// - Throws: `.operation(.folderBusy)`, `.operation(.file)`.
    public func prune(
        _ retention: CopyRetention = CopyRetention(), of name: StoreName? = nil,
        _ mode: GenerationPruning.Mode = .remove, busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> CopyPruning {
        try await OperationRun.run(waiting: busyTimeout) { patience in
            let (findings, left) = try prune(
                retention, of: name, mode == .remove ? .remove : .onlyLook, at: Timestamp(Date()), patience)
            return CopyPruning(
                findings: findings.map { CopyPruning.Finding(copy: $0.copy, removal: $0.removal) }, left: left)
        }
    }
}
