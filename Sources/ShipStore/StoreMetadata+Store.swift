import StoreOperations
public import StoreSnapshot
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
    /// The rules for pairs are those of the manifest's metadata.
    ///
    /// - Returns: The metadata of the store afterwards.
    /// - Throws: `.operation(.kept)` for a generation of an inbox and for a kept copy.
    public static func set(
        _ pairs: [String: String], removing removed: Set<String> = [], of store: FilePath,
        busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> StoreMetadata {
        try await LocalStore.run(waiting: busyTimeout) { busyHandler in
            let source = try SourceStore(at: store, busyTimeout: busyTimeout)
            try StoreHome(source.path).refuseIfKept(.setMetadata)
            try MetadataWriter(for: source.path, busyHandler).write(set: pairs, removing: removed)
            return try await source.metadata()
        }
    }
}
