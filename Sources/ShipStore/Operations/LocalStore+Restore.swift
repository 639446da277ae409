import StoreOperations
public import SystemPackage

extension LocalStore {
    /// Gives the store the content of a copy, while others have it open: to them it is one transaction. The store keeps its
    /// file, its journal mode and its page size; external files that the new content needs are there before it.
    ///
    /// - Parameters:
    ///   - copy: The folder of a kept copy or of a generation, or any store: it is checked, and stays as it is.
    ///   - options: Whose copy it may be, and what becomes of the store as it was.
    public func restore(
        from copy: FilePath, options: RestoreOptions = RestoreOptions()
    ) async throws(ShipmentError) -> Restoration {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let home = try StoreHome(resolving: path)
            try home.refuseIfKept(.restore)
            if (try? StoreHome(resolving: copy)) == home { throw OperationError.sameStore(path) }
            var copyOptions = CopyOptions()
            copyOptions.busyTimeout = options.busyTimeout
            copyOptions.temporaryFolder = options.temporaryFolder
            copyOptions.form = .vacuumed
            let source = try await RestoreSource.find(copy, copyOptions, patience)
            return try await RestoreSession(home: home, options: options, patience: patience).run(from: source)
        }
    }
}
