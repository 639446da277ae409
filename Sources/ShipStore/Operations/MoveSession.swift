import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// One move: a compact copy of the store, placed and checked; then, if asked, the end of the old one.
struct MoveSession: Sendable {
    let store: LocalStore
    let options: MoveOptions
    let patience: Patience
    let target: StoreHome

    /// Of the folders of external files that the move changes.
    private struct Locks {
        let target: SupportFolderLock
        /// Of the store at the new place, which may be behind a symbolic link.
        let occupant: SupportFolderLock
        /// `nil` if the store stays where it is.
        let old: SupportFolderLock?
    }

    func run() async throws -> Relocation {
        // On the disk of the new place, so that the copy need not be copied once more; this also sweeps what a killed
        // move left there.
        let room = try TemporaryFolder(in: target.folder, .besideResults)
        let named = NamedStore(store.path)
        let locks = try await lockSupportFolders(of: named.home)
        defer { withExtendedLifetime(locks) {} }
        guard let old = locks.old else {
            let source = try SourceStore(at: try movedHome().path, busyTimeout: patience.busyTimeout)
            return Relocation(path: target.path, way: try await place(source, room.path, locks))
        }
        let removal = RemovalSession(named: named, supportLock: old, patience: patience)
        if let relocation = try await finishEarlierMove(removal) { return relocation }
        let home = try movedHome()
        let hold = try ExclusiveHold(on: home, patience)
        let source = try SourceStore(
            at: home.path, busyTimeout: patience.busyTimeout, through: hold.connection.queue)
        let way: Relocation.Way
        if try isThere(hold) {
            way = .wasThere
            _ = try companions(of: home).carry()
        } else {
            way = try await place(source, room.path, locks)
        }
        // Before the old one goes: it costs bytes if that fails, and nothing is left of it there. What cannot be written down now
        // stays with a path at which no store is.
        try? store.memory?.follow(from: home.path, to: target.path)
        let outcome = try await removal.remove(hold, carrying: companions(of: home), to: target)
        return Relocation(
            path: target.path, way: way, removedLinks: outcome.removedLinks,
            remainingFiles: outcome.remainingFiles)
    }

    private func movedHome() throws -> StoreHome {
        let home = try StoreHome(resolving: store.path)
        guard home != target else { throw OperationError.sameStore(store.path) }
        return home
    }

    /// - Parameter home: Of the store; it may be gone.
    private func lockSupportFolders(of home: StoreHome) async throws -> Locks {
        let occupant = (try? StoreHome(resolving: target.path)) ?? target
        // Only a store of Core Data gets external files meanwhile.
        let survey = try? await SourceStore(at: home.path, busyTimeout: .zero).survey(.facts)
        let hasFiles = survey?.identity != nil || exists(home.supportFolder.path)
        var folders = [target, occupant].map { ($0.supportFolder, hasFiles ? SupportFolderLock.Purpose.put : .remove) }
        if options.original == .removed { folders.append((home.supportFolder, .remove)) }
        let locks = try SupportFolderLock.take(folders, patience)
        return Locks(target: locks[0], occupant: locks[1], old: locks.count > 2 ? locks[2] : nil)
    }

    /// A move that was killed while it removed the old store left that out of sight, and nothing to move.
    private func finishEarlierMove(_ removal: RemovalSession) async throws -> Relocation? {
        let home = removal.named.home
        guard !exists(home.path), exists(target.path), removal.followed(moveTo: target),
            let outcome = try await removal.finishKilled(carrying: companions(of: home))
        else { return nil }
        return Relocation(
            path: target.path, way: .wasThere, removedLinks: outcome.removedLinks,
            remainingFiles: outcome.remainingFiles)
    }

    /// Whether a move that was killed before it removed the old store has done the rest.
    private func isThere(_ hold: borrowing ExclusiveHold) throws -> Bool {
        guard exists(target.path) else { return false }
        return try RowComparison.areEqual(hold.connection.queue, target.path, patience)
    }

    private func companions(of home: StoreHome) -> Companions {
        Companions(of: home.supportFolder, to: target.supportFolder)
    }

    private func place(_ source: SourceStore, _ room: FilePath, _ locks: Locks) async throws -> Relocation.Way {
        let survey = try await source.survey(.facts)
        var copyOptions = store.options.making(in: room)
        // Before the work of a copy.
        if exists(target.path) {
            let occupant = try StoreHome(resolving: target.path)
            guard options.occupant == .replaced else { throw await obstacle() }
            try occupant.refuseIfKept(.replace)
            if options.restore.incompleteCopy == .refused, let omissions = survey.omissions {
                throw OperationError.incompleteCopy(store.path, omissions)
            }
            copyOptions.marking = .removed
        }
        let companions = companions(of: StoreHome(source.path))
        let space = try await promise(for: source, companions)
        defer { withExtendedLifetime(space) {} }
        let copy = try await PreparedCopy(
            of: source, named: StoreName(suggestedBy: store.path), copyOptions)
        let claims = await SupportFolderClaims(
            beside: target, waiting: patience.busyTimeout, under: locks.target)
        if !companions.areNone, let user = claims.user {
            throw OperationError.sharedSupportFolder(target.supportFolder.path, with: user)
        }
        let carried = try companions.carry()
        do {
            guard exists(target.path) else {
                let manifest = copy.manifest
                let placement = StorePlacement(
                    at: target, over: .nobody, survey.isInWALMode ? .writeAheadLog : .rollback,
                    mode: try StoreHome(source.path).mode)
                try placement.place(manifest, store: copy.copy.path, files: copy.files, beside: claims)
                return .placed(manifest)
            }
            let session = RestoreSession(
                home: try StoreHome(resolving: target.path), supportLock: locks.occupant, options: options.restore,
                patience: patience)
            let schema = try await RestoreSource.schema(of: copy.copy.path)
            return .replaced(try await session.run(from: RestoreSource(copy, schema: schema)))
        } catch {
            companions.takeBack(carried)
            throw error
        }
    }

    /// Room for what is placed beside the store, before any of it is written. The copy sees to its own.
    private func promise(
        for source: SourceStore, _ companions: Companions
    ) async throws -> SpaceLedger.Promise? {
        let support = StoreHome(source.path).supportFolder
        guard !support.names().isEmpty || !companions.areNone else { return nil }
        var references: Set<ExternalFileName> = []
        if case .store(let files, _) = try await source.references() { references = files }
        return try OperationRoom.promise(
            OperationRoom.ofMoving(support, references, with: companions, to: target.folder), in: target.folder,
            leaving: store.options.keptFree)
    }

    /// What is at the new place, and may be replaced only if it is a store.
    private func obstacle() async -> OperationError {
        switch await ReferringFile(at: target.path, busyTimeout: patience.busyTimeout) {
        case .store: .storeInTheWay(target.path)
        case .noStore, .unreadable: .occupied(target.path)
        }
    }

    private func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }
}
