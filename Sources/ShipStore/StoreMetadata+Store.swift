import StoreOperations
public import StoreSnapshot
import Synchronization
public import SystemPackage

extension StoreMetadata {
    /// Reads the metadata of a live store. The store does not change, and its writers do not wait.
    public static func read(
        of store: FilePath, busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> StoreMetadata {
        return try await ShipmentError.awaiting {
            try await SourceStore(at: store, busyTimeout: busyTimeout).metadata()
        }
    }

    /// Sets the user's own pairs, which go with copies and shipments from then on. One transaction writes to the store: to `Z_METADATA` of
    /// a Core Data store; of any other, to the table `ship_store_metadata`, which is made if there is none.
    ///
    /// - Parameters:
    ///   - pairs: The pairs to add or change; the rules are those of the manifest's metadata.
    ///   - removed: The keys to remove.
    ///   - store: The store's file.
    ///   - busyTimeout: How long to wait for another writer.
    /// - Returns: The metadata of the store afterwards.
    /// - Throws: `.operation(.kept)` for a generation of an inbox and for a kept copy.
    public static func set(
        _ pairs: [String: String], removing removed: Set<String> = [], of store: FilePath,
        busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> StoreMetadata {
        do {
            let source = try SourceStore(at: store, busyTimeout: busyTimeout)
            try StoreHome(source.path).refuseIfKept(.setMetadata)
            // Tells the thread that waits for the store whether the task was cancelled.
            let isCancelled = Atomic(false)
            try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await withTaskCancellationHandler {
                    try MetadataWriter(for: source.path, busyTimeout: busyTimeout)
                        .write(set: pairs, removing: removed) { isCancelled.load(ordering: .relaxed) }
                } onCancel: {
                    isCancelled.store(true, ordering: .relaxed)
                }
            }
            return try await source.metadata()
        } catch {
            throw ShipmentError(error)
        }
    }
}
