import ShipProtocol
import StoreOperations
public import StoreSnapshot
import Synchronization
public import SystemPackage

extension StoreMetadata {
    /// Reads what a live store says of itself. It is not changed, and its writers are not disturbed.
    public static func read(
        of store: FilePath, busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> StoreMetadata {
        do {
            return try await SourceStore(at: store, busyTimeout: busyTimeout).metadata()
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Sets the user's own pairs, which travel with copies and shipments from then on. This writes to the store, in one
    /// transaction: of a Core Data store, to `Z_METADATA`; of any other, to the table `ship_store_metadata`, which is made
    /// for it.
    ///
    /// - Parameters:
    ///   - pairs: To add, or to give another value; the rules are those of the manifest's metadata.
    ///   - removed: Keys to remove.
    ///   - store: The store's file.
    ///   - busyTimeout: How long to wait for another writer.
    /// - Returns: What the store says of itself afterwards.
    /// - Throws: `.operation(.kept)` for a generation of an inbox and for a kept copy.
    public static func set(
        _ pairs: [String: String], removing removed: Set<String> = [], of store: FilePath,
        busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> StoreMetadata {
        do {
            let source = try SourceStore(at: store, busyTimeout: busyTimeout)
            try StoreHome(source.path).refuseIfKept(.setMetadata)
            let cancellation = Cancellation()
            try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await withTaskCancellationHandler {
                    try MetadataWriter(for: source.path, busyTimeout: busyTimeout)
                        .write(set: pairs, removing: removed) { cancellation.isCancelled.load(ordering: .relaxed) }
                } onCancel: {
                    cancellation.isCancelled.store(true, ordering: .relaxed)
                }
            }
            return try await source.metadata()
        } catch {
            throw ShipmentError(error)
        }
    }
}

/// Whether the task was cancelled, for the thread that waits.
private final class Cancellation: Sendable {
    let isCancelled = Atomic(false)
}
