import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The removal of one store, and of everything that is proven to belong to it alone.
///
///     SupportFolderLock -> ExclusiveHold -> its rows, and those of its neighbours -> out of sight -> its external files -> the links to it
struct RemovalSession: Sendable {
    let named: NamedStore
    /// The lock of its support folder.
    let supportLock: SupportFolderLock
    let busyHandler: BusyHandler

    private var home: StoreHome { named.home }
    private var removal: StoreRemoval { StoreRemoval(of: home) }

    /// What is left of its external files, and the symbolic links by which the user named the store.
    typealias Outcome = (remainingFiles: [RemainingFile], removedLinks: [FilePath])

    /// Removes a store that nobody else uses.
    ///
    /// - Parameters:
    ///   - hold: On the store at its real path.
    ///   - companions: Files that have been carried to the store's new place.
    ///   - target: Its new place; `nil` if it has none.
    func remove(
        _ hold: borrowing ExclusiveHold, carrying companions: Companions? = nil, to target: StoreHome? = nil
    ) async throws -> Outcome {
        let rows = await rows(through: hold)
        // An earlier removal may have left files before the app made the store anew.
        _ = try await finishKilled(besides: rows)
        let claims = await claims()
        let arrived = try arrived(of: companions, rows, claims)
        try busyHandler.check()
        try hold.begin(removal, after: target)
        return try finish(rows, claims, arrived)
    }

    /// Finishes a removal that was killed.
    ///
    /// - Parameter rows: The rows of a store that has the same name now.
    /// - Returns: `nil` if none is under way.
    func finishKilled(
        besides rows: ReferringFile = .noStore, carrying companions: Companions? = nil
    ) async throws -> Outcome? {
        try removal.sweep()
        guard let store = removal.store else { return nil }
        let removed = await ReferringFile(ofStore: store, waiting: busyHandler.busyTimeout)
        let claims = await claims(besides: rows)
        let arrived = try arrived(of: companions, removed, claims)
        try busyHandler.check()
        return try finish(removed, claims, arrived)
    }

    /// Whether a move was killed while it removed the old store: then there is nothing left to move.
    func followed(moveTo target: StoreHome) -> Bool { removal.followedMove(to: target) }

    func rows(through hold: borrowing ExclusiveHold) async -> ReferringFile {
        await ReferringFile(ofStore: home.path, waiting: busyHandler.busyTimeout, through: hold.connection)
    }

    func claims(besides rows: ReferringFile = .noStore) async -> SupportFolderClaims {
        await SupportFolderClaims(beside: home, besides: rows, waiting: busyHandler.busyTimeout, under: supportLock)
    }

    /// The files in the store's support folder to which no row can refer, and that are at its new place already.
    ///
    /// - Returns: `nil` where they may belong to another store of the same stem, or the store keeps no external files.
    private func arrived(
        of companions: Companions?, _ rows: ReferringFile, _ claims: SupportFolderClaims
    ) throws(OperationError) -> [FilePath]? {
        guard claims.permitRemoval, claims.user == nil, rows.isCoreData else { return nil }
        return try companions?.arrived() ?? []
    }

    /// This takes little time, and does not stop when the task is cancelled.
    private func finish(
        _ rows: ReferringFile, _ claims: SupportFolderClaims, _ arrived: [FilePath]?
    ) throws(OperationError) -> Outcome {
        let support = home.supportFolder
        // A restore that was cut off may have put files there to which no row refers yet.
        let record = RestoreRecord(of: home)
        let own = rows.ownFiles?.union(support.names().filter { record?.lists($0) == true })
        let removedLinks = try OperationError.wrapping { () throws(FileError) in
            try support.removeForGood(claims.solely(own))
            if let arrived { try support.removeForGood(arrived) }
            let removedLinks = named.removeLinks()
            try removal.finish()
            return removedLinks
        }
        return (support.remaining(claims, unreadable: rows == .unreadable ? home.path : nil), removedLinks)
    }
}

extension SupportFolder {
    /// The content of the folder, and why it stays.
    func remaining(_ claims: SupportFolderClaims, unreadable: FilePath? = nil) -> [RemainingFile] {
        content().map { place in
            RemainingFile(
                path.appending(place.components),
                claims.reason(for: SupportFolder.name(of: place), besides: unreadable))
        }
    }
}
