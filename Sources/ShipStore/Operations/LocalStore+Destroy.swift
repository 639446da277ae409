import StoreBases
import StoreFiles
import StoreOperations

extension LocalStore {
    /// Removes the store, its sidecars, the external files that it alone refers to, and the symbolic links that the path
    /// leads through. No other program may have it open in WAL mode: so no commit is lost that a program counts on.
    ///
    /// It first forgets what is remembered of the store: if that fails, nothing has changed. It also finishes a destruction
    /// that was killed.
    ///
    /// - Throws: `.operation(.kept)` for a generation of an inbox and for a kept copy, `.operation(.supportFolderBusy)` while
    ///   another operation is at work on the store's external files, or on those of a store of its stem.
    @discardableResult
    public func destroy() async throws(ShipmentError) -> Destruction {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let named = try NamedStore(path)
            let lock = try SupportFolderLock.take(named.home.supportFolder, toPut: false, busyHandler)
            defer { withExtendedLifetime(lock) {} }
            let session = RemovalSession(named: named, supportLock: lock, busyHandler: busyHandler)
            let outcome: RemovalSession.Outcome
            let forgotten: [BaseRecord]
            if try !PlatformCalls.isThere(named.home.path) {
                guard let finished = try await session.finishKilled() else { throw OperationError.noSuchStore(path) }
                outcome = finished
                forgotten = try forget(named.home)
            } else {
                let home = try StoreHome(resolving: path)
                try home.refuseIfKept(.destroy)
                let hold = try ExclusiveHold(on: home, busyHandler)
                let plan = try await session.plan(hold)
                try session.removal.prepare()
                do {
                    forgotten = try forget(home)
                    outcome = try session.remove(hold, as: plan)
                } catch {
                    session.removal.cancel()
                    throw error
                }
            }
            return Destruction(
                store: named.home.path, links: outcome.removedLinks, files: [], remainingFiles: outcome.remainingFiles,
                rememberedCopies: forgotten)
        }
    }

    /// The files that `destroy` would remove, and those that it would leave. The store may be in use, and nothing changes.
    public func destructionPlan() async throws(ShipmentError) -> Destruction {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let named = try NamedStore(path)
            let home = try StoreHome(resolving: path)
            try home.refuseIfKept(.destroy)
            try home.refuseLogOfNothing()
            let rows = try await ReferringFile(ofStore: home.path, busyTimeout: busyHandler.busyTimeout)
            let claims = try await SupportFolderClaims(beside: home, waiting: busyHandler.busyTimeout, under: nil)
            try busyHandler.check()
            let support = home.supportFolder
            let content = try support.content()
            let names = content.compactMap(SupportFolder.name(of:))
            let going = claims.solely(rows.ownFiles).intersection(names).sorted().map(support.path)
            let remaining = support.remaining(content, claims, unreadable: rows == .unreadable ? home.path : nil)
            return Destruction(
                store: home.path, links: named.links.map(\.path),
                files: try home.sidecars.filter { try PlatformCalls.isThere($0) } + going,
                remainingFiles: remaining.filter { !going.contains($0.path) },
                rememberedCopies: try memory?.records().filter { $0.key.store == home.path } ?? [])
        }
    }

    /// Forgets everything about a store that is about to be removed.
    func forget(_ home: StoreHome) throws(BaseMemoryError) -> [BaseRecord] {
        try memory?.erase(storeAt: home.path) ?? []
    }
}

extension LocalStore {
    /// Why SQLite cannot open the file as a store, or cannot write to it, in words; `nil` if it can. No other program may have it open.
    ///
    /// - Throws: `.operation(.noSuchStore)`, and what a look at a store may throw.
    public func damage() async throws(ShipmentError) -> String? {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            try await Self.damage(of: try StoreHome(resolving: path), busyHandler)
        }
    }

    private static func damage(of home: StoreHome, _ busyHandler: BusyHandler) async throws -> String? {
        if case .damaged(let words) = try await StoreCondition.find(home, busyHandler) { return words }
        do {
            _ = try ExclusiveHold(on: home, busyHandler)
            return nil
        } catch {
            guard let words = StoreCondition.damage(error) else { throw error }
            return words
        }
    }

    /// Removes a file that SQLite cannot open or write to, and its -wal, -shm and -journal. External files stay: without the rows that
    /// refer to them, their owner is unknown.
    ///
    /// - Throws: `.operation(.inUse)` while a program has it open, `.operation(.kept)` for a generation of an inbox and for a kept
    ///   copy.
    public func destroyDamaged() async throws(ShipmentError) -> Destruction {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let (named, home) = (try NamedStore(path), try StoreHome(resolving: path))
            try home.refuseIfKept(.destroy)
            // A restore beside it would put a sound store there.
            let lock = try SupportFolderLock.take(home.supportFolder, toPut: false, busyHandler)
            defer { withExtendedLifetime(lock) {} }
            for _ in 1...Self.looks {
                let seen = try PlatformCalls.status(of: home.path)
                guard try await Self.damage(of: home, busyHandler) != nil else { throw OperationError.notDamaged(path) }
                let claims = try await SupportFolderClaims(beside: home, waiting: busyHandler.busyTimeout, under: nil)
                let content = try home.supportFolder.content()
                let forgotten = try forget(home)
                guard try DamagedStore.remove(home, asSeen: seen, busyHandler) else { continue }
                return Destruction(
                    store: home.path, links: named.removeLinks(), files: [],
                    remainingFiles: home.supportFolder.remaining(content, claims, unreadable: home.path),
                    rememberedCopies: forgotten)
            }
            throw OperationError.busy(home.path, waited: busyHandler.busyTimeout)
        }
    }

    /// Most looks at a file that changes, or is replaced, after each.
    private static let looks = 3
}
