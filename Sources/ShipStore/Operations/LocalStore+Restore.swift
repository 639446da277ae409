import StoreOperations
public import SystemPackage

extension LocalStore {
    /// Gives the store the content of a copy, while others have it open: to them it is one transaction. The store keeps its
    /// file, its journal mode and its page size; external files that the new content needs are there before it.
    ///
    /// Where the store is gone, or SQLite cannot open it, the copy is put in its place, and what is left of it is kept in a
    /// folder beside it: whoever has the damaged file open keeps that.
    ///
    /// - Parameters:
    ///   - copy: The folder of a kept copy or of a generation, or any store: it is checked, and stays as it is.
    ///   - options: Whose copy it may be, and what becomes of the store as it was.
    public func restore(
        from copy: FilePath, options: RestoreOptions = RestoreOptions()
    ) async throws(ShipmentError) -> Restoration {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let home = try StoreHome(placing: path)
            try home.refuseIfKept(.restore)
            if (try? StoreHome(resolving: copy)) == home { throw OperationError.sameStore(path) }
            var copyOptions = CopyOptions()
            copyOptions.busyTimeout = options.busyTimeout
            copyOptions.temporaryFolder = options.temporaryFolder
            copyOptions.form = .vacuumed
            copyOptions.keptFree = options.keptFree
            copyOptions.marking = .removed
            let source = try await RestoreSource.find(
                copy, copyOptions, incomplete: options.incompleteCopy, patience)
            let lock = try SupportFolderLock.take(
                home.supportFolder, to: source.files.isEmpty ? .remove : .put, patience)
            defer { withExtendedLifetime(lock) {} }
            return try await RestoreSession(home: home, supportLock: lock, options: options, patience: patience)
                .run(from: source)
        }
    }
}
