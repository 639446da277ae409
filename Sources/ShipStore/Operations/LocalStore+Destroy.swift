import StoreBases
import StoreFiles
public import StoreOperations
public import SystemPackage

/// What became of a store that was destroyed, and of what lay beside it; or, after a mere look, what would become of it.
public struct Destruction: Hashable, Sendable {
    /// The store, without symbolic links.
    public let store: FilePath
    /// The symbolic links by which the user named it, which led nowhere without it.
    public let links: [FilePath]
    /// What goes with it, after a mere look: its sidecars and external files.
    public let files: [FilePath]
    /// What stays in its support folder, and why.
    public let remainingFiles: [RemainingFile]
    /// The copies of it that were remembered, as they had been acknowledged by receivers.
    public let rememberedCopies: [BaseRecord]
}

extension LocalStore {
    /// Removes the store, what SQLite keeps beside it, the external files that it alone refers to, and the symbolic links
    /// that the path leads through. Nobody else may have it open in WAL mode: so no commit is lost that somebody has been
    /// told of.
    ///
    /// What is remembered of it goes first: a destruction that fails at that has changed nothing.
    ///
    /// Where a destruction was killed halfway, this removes what it left.
    ///
    /// - Throws: `.operation(.kept)` for a generation of an inbox and for a kept copy, `.operation(.supportFolderBusy)` while
    ///   another operation is at work on the store's external files, or on those of a store of its stem.
    @discardableResult
    public func destroy() async throws(ShipmentError) -> Destruction {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let named = NamedStore(path)
            let lock = try SupportFolderLock.take(named.home.supportFolder, to: .remove, patience)
            defer { withExtendedLifetime(lock) {} }
            let session = RemovalSession(named: named, supportLock: lock, patience: patience)
            let outcome: RemovalSession.Outcome
            let forgotten: [BaseRecord]
            if (try? PlatformCalls.status(of: named.home.path)) == nil {
                guard let finished = try await session.finishKilled() else { throw OperationError.noSuchStore(path) }
                outcome = finished
                forgotten = try forget(named.home)
            } else {
                let home = try StoreHome(resolving: path)
                try home.refuseIfKept(.destroy)
                let hold = try ExclusiveHold(on: home, patience)
                forgotten = try forget(home)
                outcome = try await session.remove(hold)
            }
            return Destruction(
                store: named.home.path, links: outcome.removedLinks, files: [], remainingFiles: outcome.remainingFiles,
                rememberedCopies: forgotten)
        }
    }

    /// What `destroy` would remove, and what it would leave. The store may be in use meanwhile, and nothing changes.
    public func destructionPlan() async throws(ShipmentError) -> Destruction {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let named = NamedStore(path)
            let home = try StoreHome(resolving: path)
            try home.refuseIfKept(.destroy)
            let rows = await OwnRows(of: home.path, waiting: patience.busyTimeout)
            let claims = await SupportFolderClaims(beside: home, waiting: patience.busyTimeout, under: nil)
            try patience.check()
            let support = home.supportFolder
            let going = claims.solely(rows.files).intersection(support.names()).sorted().map(support.path)
            let remaining = support.remaining(claims, unreadable: rows == .unreadable ? home.path : nil)
            return Destruction(
                store: home.path, links: named.links.map(\.path),
                files: home.sidecars.filter { (try? PlatformCalls.status(of: $0)) != nil } + going,
                remainingFiles: remaining.filter { !going.contains($0.path) },
                rememberedCopies: try memory?.records().filter { $0.key.store == home.path } ?? [])
        }
    }

    /// Nothing is remembered of a store that goes.
    func forget(_ home: StoreHome) throws(BaseMemoryError) -> [BaseRecord] {
        try memory?.erase(storeAt: home.path) ?? []
    }
}
