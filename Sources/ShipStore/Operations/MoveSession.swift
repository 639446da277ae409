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

    func run() async throws -> Relocation {
        // On the disk of the new place, so that the copy need not be copied once more; this also sweeps what a killed
        // move left there.
        let room = try TemporaryFolder(in: target.folder, .besideResults)
        if let relocation = try finishEarlierMove() { return relocation }
        let home = try StoreHome(resolving: store.path)
        guard home != target else { throw OperationError.sameStore(store.path) }
        switch options.original {
        case .kept:
            return try await place(try SourceStore(at: home.path, busyTimeout: patience.busyTimeout), room.path)
        case .removed:
            let hold = try ExclusiveHold(on: home, patience)
            let source = try SourceStore(
                at: home.path, busyTimeout: patience.busyTimeout, through: hold.connection.queue)
            let relocation =
                try isThere(hold) ? Relocation(path: target.path, way: .wasThere) : try await place(source, room.path)
            try hold.removeStore()
            return relocation
        }
    }

    /// A move that was killed while it removed the old store left remains of it, and nothing to move.
    private func finishEarlierMove() throws -> Relocation? {
        let remains = StoreRemains(of: StoreHome(store.path))
        guard options.original == .removed, exists(target.path), remains.areLeft else { return nil }
        try remains.remove()
        return Relocation(path: target.path, way: .wasThere)
    }

    /// Whether a move that was killed before it removed the old store has done the rest.
    private func isThere(_ hold: borrowing ExclusiveHold) throws -> Bool {
        guard exists(target.path) else { return false }
        return try RowComparison.areEqual(hold.connection.queue, target.path, patience)
    }

    private func place(_ source: SourceStore, _ room: FilePath) async throws -> Relocation {
        let survey = try await source.survey()
        // Before the work of a copy.
        if exists(target.path), options.occupant == .refused { throw OperationError.occupied(target.path) }
        let copy = try await PreparedCopy(
            of: source, named: StoreName(suggestedBy: store.path), store.options.making(in: room))
        guard exists(target.path) else {
            let manifest = copy.manifest
            let placement = StorePlacement(
                at: target, over: .nobody, survey.isInWALMode ? .writeAheadLog : .rollback,
                mode: try StoreHome(source.path).mode)
            try placement.place(manifest, store: copy.copy.path, files: copy.files)
            return Relocation(path: target.path, way: .placed(manifest))
        }
        let session = RestoreSession(home: target, options: options.restore, patience: patience)
        return Relocation(
            path: target.path, way: .replaced(try await session.run(from: RestoreSource(copy))))
    }

    private func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }
}
