import StoreFiles
import StoreOperations
import SystemPackage

extension LocalStore {
    /// What makes the file no store that SQLite can open, in words; `nil` if it is one.
    ///
    /// - Throws: `.operation(.noSuchStore)`, and what a look at a store may throw.
    public func damage() async throws(ShipmentError) -> String? {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            guard case .damaged(let words) = try await StoreCondition.judge(try StoreHome(resolving: path), patience)
            else {
                return nil
            }
            return words
        }
    }

    /// Removes a file that SQLite cannot open, with what lies beside it under the names of a store's -wal, -shm and -journal.
    /// External files stay: without the rows that refer to them nobody knows whose they are.
    ///
    /// - Throws: `.operation(.inUse)` while somebody has it open, `.operation(.kept)` for a generation of an inbox and for a kept
    ///   copy.
    public func destroyDamaged() async throws(ShipmentError) -> Destruction {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let (named, home) = (NamedStore(path), try StoreHome(resolving: path))
            try home.refuseIfKept(.destroy)
            guard case .damaged = try await StoreCondition.judge(home, patience) else {
                throw OperationError.notDamaged(path)
            }
            let forgotten = try forget(home)
            try DamagedStore.remove(home, patience)
            let claims = await SupportFolderClaims(beside: home, waiting: patience.busyTimeout, under: nil)
            return Destruction(
                store: home.path, links: named.removeLinks(), files: [],
                remainingFiles: home.supportFolder.remaining(claims, unreadable: home.path),
                rememberedCopies: forgotten)
        }
    }
}
