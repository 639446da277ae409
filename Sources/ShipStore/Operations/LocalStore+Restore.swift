import StoreOperations
public import SystemPackage

extension LocalStore {
    /// Gives the store the content of a copy while other programs have it open: they see one transaction. The store keeps
    /// its file, its journal mode and its page size. External files that the new content needs are there before it.
    ///
    /// If the store is gone, or SQLite cannot open it, the copy takes its place. What is left of the store is kept in a
    /// folder beside it; programs that have the damaged file open keep that.
    ///
    /// - Parameters:
    ///   - copy: The folder of a kept copy or of a generation, or any store: it is checked, and stays as it is.
    ///   - options: Whose copy it may be, and what becomes of the store as it was.
    public func restore(
        from copy: FilePath, options: RestoreOptions = RestoreOptions()
    ) async throws(ShipmentError) -> Restoration {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let home = try StoreHome(placing: path)
            try home.refuseIfKept(.restore)
            if (try? StoreHome(resolving: copy)) == home { throw OperationError.sameStore(path) }
            var copyOptions = CopyOptions()
            copyOptions.busyTimeout = options.busyTimeout
            copyOptions.temporaryFolder = options.temporaryFolder
            copyOptions.inCanonicalForm = false
            copyOptions.keptFree = options.keptFree
            copyOptions.marking = .removed
            copyOptions.takesDamaged = options.takesDamagedCopy
            let source = try await RestoreSource.find(
                copy, copyOptions, takingIncomplete: options.takesIncompleteCopy, busyHandler)
            let lock = try SupportFolderLock.take(home.supportFolder, toPut: !source.files.isEmpty, busyHandler)
            defer { withExtendedLifetime(lock) {} }
            return try await RestoreSession(home: home, supportLock: lock, options: options, busyHandler: busyHandler)
                .run(from: source)
        }
    }
}
