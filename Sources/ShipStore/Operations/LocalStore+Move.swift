import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

extension LocalStore {
    /// Puts the store into another folder under its name: with its identity, its history, its keys and its external files,
    /// in its journal mode; and with everything else in its support folder. The result has been read back and checked.
    public func move(
        to folder: FilePath, options: MoveOptions = MoveOptions()
    ) async throws(ShipmentError) -> Relocation {
        try await LocalStore.run(waiting: self.options.busyTimeout) { busyHandler in
            let named = try NamedStore(path)
            let removal = StoreRemoval(of: named.home)
            guard try PlatformCalls.isThere(named.home.path) || removal.store != nil else {
                // A killed move may have finished its work.
                try removal.sweep()
                TemporaryFolder.sweep(folder, .besideResults)
                throw OperationError.noSuchStore(path)
            }
            if options.removesOriginal { try named.home.refuseIfKept(.move) }
            try KeptPlace.refuseToFill(folder)
            // On the disk of the new place, so that the copy is written once. This also removes what a killed move left there.
            let temporary = try TemporaryFolder(
                making: folder, with: try? StoreHome(resolving: path).attributes.ofFolder)
            defer { withExtendedLifetime(temporary) {} }
            let folder = try PlatformCalls.realPath(of: folder)
            let session = MoveSession(
                store: self, options: options, busyHandler: busyHandler,
                target: StoreHome(folder.appending(text: path.lastName)))
            return try await session.run(in: temporary.path)
        }
    }
}

/// One move: it places and checks a compact copy of the store; then, if wanted, it removes the old store.
private struct MoveSession: Sendable {
    let store: LocalStore
    let options: MoveOptions
    let busyHandler: BusyHandler
    let target: StoreHome

    /// The locks of the support folders that the move changes: of the new place; of the store there, which may be behind a
    /// symbolic link; and of the old place, `nil` if the store stays there too.
    private typealias Locks = (target: SupportFolderLock, occupant: SupportFolderLock, old: SupportFolderLock?)

    /// - Parameter folder: For the copy until it is complete.
    func run(in folder: FilePath) async throws -> Relocation {
        let named = try NamedStore(store.path)
        let locks = try await lockSupportFolders(of: named.home)
        defer { withExtendedLifetime(locks) {} }
        guard let old = locks.old else {
            let source = try SourceStore(at: try movedHome().path, busyTimeout: busyHandler.busyTimeout)
            return Relocation(
                path: target.path, outcome: try await place(source, folder, locks), removedLinks: [],
                remainingFiles: [])
        }
        let removal = RemovalSession(named: named, supportLock: old, busyHandler: busyHandler)
        if let relocation = try await finishEarlierMove(removal) { return relocation }
        let home = try movedHome()
        try SourceStore.refuseSeveralNames(of: home.path)
        let hold = try ExclusiveHold(on: home, busyHandler)
        // Nothing is put at the new place of a store that cannot go.
        try removal.removal.prepare()
        removal.removal.cancel()
        let source = try SourceStore(
            at: home.path, busyTimeout: busyHandler.busyTimeout, through: hold.connection.queue)
        let placement: Relocation.Outcome
        if try await isThere(source, hold) {
            placement = .wasThere
            _ = try otherFiles(of: home).carry()
            try target.makeDurable()
        } else {
            placement = try await place(source, folder, locks)
        }
        let plan = try await removal.plan(hold, carrying: otherFiles(of: home))
        // Before the old store goes. A failure costs only bytes: then the memory keeps the copies of a path without a store.
        try? store.memory?.follow(from: home.path, to: target.path)
        let outcome = try removal.remove(hold, as: plan, to: target)
        return Relocation(
            path: target.path, outcome: placement, removedLinks: outcome.removedLinks,
            remainingFiles: outcome.remainingFiles)
    }

    private func movedHome() throws -> StoreHome {
        let home = try StoreHome(resolving: store.path)
        guard home != target else { throw OperationError.sameStore(store.path) }
        return home
    }

    /// - Parameter home: The place of the store, which may be gone.
    private func lockSupportFolders(of home: StoreHome) async throws -> Locks {
        let occupant = (try? StoreHome(resolving: target.path)) ?? target
        // Only a Core Data store gets external files meanwhile.
        let identity: ForeignText?
        do throws(SnapshotError) {
            identity = try await SourceStore(at: home.path, busyTimeout: .zero).survey(externalFiles: false).identity
        } catch {
            guard !error.isOfSystem else { throw error }
            identity = nil
        }
        let hasFiles = try identity != nil || exists(home.supportFolder.path)
        var folders = [target, occupant].map { ($0.supportFolder, isToPut: hasFiles) }
        if options.removesOriginal { folders.append((home.supportFolder, isToPut: false)) }
        let locks = try SupportFolderLock.take(folders, busyHandler)
        return (locks[0], locks[1], locks.count > 2 ? locks[2] : nil)
    }

    /// Finishes a move that was killed while it removed the old store: that is out of sight then, and nothing is left to move.
    private func finishEarlierMove(_ removal: RemovalSession) async throws -> Relocation? {
        let home = removal.named.home
        guard try !exists(home.path), try exists(target.path), try removal.removal.followedMove(to: target),
            let outcome = try await removal.finishKilled(carrying: otherFiles(of: home))
        else { return nil }
        return Relocation(
            path: target.path, outcome: .wasThere, removedLinks: outcome.removedLinks,
            remainingFiles: outcome.remainingFiles)
    }

    /// Whether an earlier move has done everything but the removal of the old store: the store at the new place has the same rows, and
    /// its external files are there, byte for byte.
    private func isThere(_ source: SourceStore, _ hold: borrowing ExclusiveHold) async throws -> Bool {
        guard try exists(target.path), try hold.connection.hasSameRows(as: target.path, busyHandler),
            case .store(let files, _) = try await source.references()
        else { return false }
        let support = StoreHome(source.path).supportFolder
        return try files.allSatisfy { name in
            let path = support.path(of: name)
            // What is missing here cannot be lost.
            guard try exists(path) else { return true }
            let place = target.supportFolder.path(of: name)
            return try exists(place) && ContentDigest(ofFile: path) == ContentDigest(ofFile: place)
        }
    }

    private func otherFiles(of home: StoreHome) throws(FileError) -> OtherSupportFiles {
        try OtherSupportFiles(of: home.supportFolder, to: target.supportFolder)
    }

    private func place(_ source: SourceStore, _ folder: FilePath, _ locks: Locks) async throws -> Relocation.Outcome {
        let survey = try await source.survey(externalFiles: false)
        var copyOptions = store.options.making(in: folder)
        // Before the work of a copy.
        if try exists(target.path) {
            let occupant = try StoreHome(resolving: target.path)
            guard options.replacesOccupant else { throw try await obstacle() }
            try occupant.refuseIfKept(.replace)
            if !options.restore.takesIncompleteCopy, let omissions = survey.omissions {
                throw OperationError.incompleteCopy(store.path, omissions)
            }
            copyOptions.marking = .removed
        }
        let otherFiles = try otherFiles(of: StoreHome(source.path))
        let space = try await reserve(for: source, otherFiles)
        defer { withExtendedLifetime(space) {} }
        let copy = try await PreparedCopy(of: source, named: StoreName(suggestedBy: store.path), copyOptions)
        let claims = try await SupportFolderClaims(
            beside: target, waiting: busyHandler.busyTimeout, under: locks.target)
        if !otherFiles.areNone, let user = claims.user {
            throw OperationError.sharedSupportFolder(target.supportFolder.path, with: user)
        }
        let carried = try otherFiles.carry()
        do {
            guard try exists(target.path) else {
                let manifest = copy.manifest
                let placement = StorePlacement(
                    at: target, inWALMode: survey.isInWALMode, attributes: try StoreHome(source.path).attributes)
                try placement.place(manifest, store: copy.copy.path, files: copy.files, beside: claims)
                return .placed(manifest)
            }
            let session = RestoreSession(
                home: try StoreHome(resolving: target.path), supportLock: locks.occupant, options: options.restore,
                busyHandler: busyHandler)
            return .replaced(try await session.run(from: RestoreSource(copy)))
        } catch {
            otherFiles.takeBack(carried)
            throw error
        }
    }

    /// Reserves the space for everything but the copy itself, which reserves its own.
    private func reserve(for source: SourceStore, _ otherFiles: OtherSupportFiles) async throws -> DiskReservation? {
        let support = StoreHome(source.path).supportFolder
        guard try !support.names().isEmpty || !otherFiles.areNone else { return nil }
        var references: Set<ExternalFileName> = []
        if case .store(let files, _) = try await source.references() { references = files }
        return try DiskReservation.make(
            try DiskReservation.sizeToMove(support, references, with: otherFiles, to: target.folder), in: target.folder,
            leaving: store.options.keptFree)
    }

    /// The error for what is at the new place: only a store may be replaced.
    private func obstacle() async throws(SnapshotError) -> OperationError {
        switch try await ReferringFile(at: target.path, busyTimeout: busyHandler.busyTimeout) {
        case .store: .storeInTheWay(target.path)
        case .noStore, .unreadable: .occupied(target.path)
        }
    }

    private func exists(_ path: FilePath) throws(FileError) -> Bool { try PlatformCalls.isThere(path) }
}
