import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The end of one store: it goes, and with it what is proven to be its alone.
///
///     SupportFolderLock -> ExclusiveHold -> its rows, and those of its neighbours -> out of sight -> its external files -> the links to it
struct RemovalSession: Sendable {
    let named: NamedStore
    /// Of its external files.
    let supportLock: SupportFolderLock
    let patience: Patience

    private var home: StoreHome { named.home }
    private var removal: StoreRemoval { StoreRemoval(of: home) }

    /// What has become of everything.
    struct Outcome: Sendable {
        let remainingFiles: [RemainingFile]
        /// Symbolic links by which the user named the store.
        let removedLinks: [FilePath]
    }

    /// Removes a store that nobody else uses.
    ///
    /// - Parameters:
    ///   - hold: Of the store, on its real path.
    ///   - companions: Files that have been carried to the store's new place.
    ///   - target: Its new place; `nil` if it has none.
    func remove(
        _ hold: borrowing ExclusiveHold, carrying companions: Companions? = nil, to target: StoreHome? = nil
    ) async throws -> Outcome {
        let rows = await rows(through: hold)
        // What an earlier removal left, before its app made the store anew.
        _ = try await finishKilled(besides: rows)
        let claims = await claims()
        let arrived = try arrived(of: companions, rows, claims)
        try patience.check()
        try hold.begin(removal, after: target)
        return try finish(rows, claims, arrived)
    }

    /// Finishes a removal that was killed.
    ///
    /// - Parameter rows: Of a store that has the same name now.
    /// - Returns: `nil` if none is under way.
    func finishKilled(
        besides rows: OwnRows = .none, carrying companions: Companions? = nil
    ) async throws -> Outcome? {
        removal.sweep()
        guard let store = removal.store else { return nil }
        let removed = await OwnRows(of: store, waiting: patience.busyTimeout)
        let claims = await claims(besides: rows)
        let arrived = try arrived(of: companions, removed, claims)
        try patience.check()
        return try finish(removed, claims, arrived)
    }

    /// Whether a move was killed while it removed the old store: then there is nothing left to move.
    func followed(moveTo target: StoreHome) -> Bool { removal.followedMove(to: target) }

    func rows(through hold: borrowing ExclusiveHold) async -> OwnRows {
        await OwnRows(of: home.path, waiting: patience.busyTimeout, through: hold.connection)
    }

    func claims(besides rows: OwnRows = .none) async -> SupportFolderClaims {
        await SupportFolderClaims(beside: home, besides: rows, waiting: patience.busyTimeout, under: supportLock)
    }

    /// What else lies in the store's support folder, and is at its new place already; `nil` where that folder, and what no row
    /// can refer to, does not belong to this one store of its stem that keeps external files.
    private func arrived(
        of companions: Companions?, _ rows: OwnRows, _ claims: SupportFolderClaims
    ) throws(OperationError) -> [FilePath]? {
        guard claims.permitRemoval, claims.user == nil, rows.isCoreData else { return nil }
        return try companions?.arrived() ?? []
    }

    /// Nothing here takes long, or ends halfway when the task is cancelled.
    private func finish(
        _ rows: OwnRows, _ claims: SupportFolderClaims, _ arrived: [FilePath]?
    ) throws(OperationError) -> Outcome {
        let support = home.supportFolder
        let removedLinks = try OperationError.wrapping { () throws(FileError) in
            try support.removeForGood(claims.solely(rows.files))
            if let arrived { try support.removeForGood(arrived) }
            let removedLinks = named.removeLinks()
            try removal.finish()
            return removedLinks
        }
        return Outcome(
            remainingFiles: support.remaining(claims, unreadable: rows == .unreadable ? home.path : nil),
            removedLinks: removedLinks)
    }
}

extension SupportFolder {
    /// What is in the folder, and why it stays.
    func remaining(_ claims: SupportFolderClaims, unreadable: FilePath? = nil) -> [RemainingFile] {
        content().map { place in
            RemainingFile(
                path.appending(place.components),
                claims.reason(for: SupportFolder.name(of: place), besides: unreadable))
        }
    }
}
