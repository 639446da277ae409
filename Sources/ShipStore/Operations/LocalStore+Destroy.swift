import StoreOperations
import SystemPackage

extension LocalStore {
    /// Removes the store, what SQLite keeps beside it, and its external files. Nobody else may have it open in WAL mode:
    /// so no commit is lost that somebody has been told of.
    ///
    /// Where a destruction was killed halfway, this removes what it left.
    public func destroy() async throws(ShipmentError) {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let remains = StoreRemains(of: StoreHome(path))
            guard !remains.areLeft else { return try remains.remove() }
            try ExclusiveHold(on: try StoreHome(resolving: path), patience).removeStore()
        }
    }
}
