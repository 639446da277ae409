import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The removal of one store, and of everything that is proven to belong to it alone.
///
///     SupportFolderLock -> ExclusiveHold -> Plan: its rows, and those of its neighbours -> out of sight -> its external files -> the links to it
struct RemovalSession: Sendable {
    let named: NamedStore
    let supportLock: SupportFolderLock
    let busyHandler: BusyHandler

    private var home: StoreHome { named.home }
    var removal: StoreRemoval { StoreRemoval(of: home) }

    /// The external files that are left, and the symbolic links by which the user named the store.
    typealias Outcome = (remainingFiles: [RemainingFile], removedLinks: [FilePath])

    /// The findings before anything is removed: afterwards no row says any more what belonged to the store.
    struct Plan: Sendable {
        fileprivate let rows: ReferringFile
        fileprivate let claims: SupportFolderClaims
        /// Files that no row can refer to, and that are at the store's new place; `nil` where they stay.
        fileprivate let arrived: [FilePath]?
        /// The external files that a restore may have put there, to which no row refers yet.
        fileprivate let unreferred: Set<ExternalFileName>
        /// All that is in the support folder.
        fileprivate let content: [FilePath]
    }

    /// Looks at a store that is to be removed, and that nobody else uses. Nothing of it has changed then.
    ///
    /// - Parameters:
    ///   - hold: On the store at its real path.
    ///   - otherFiles: Files that have been carried to the store's new place.
    /// - Throws: Among others an error of the system, after which it is unknown what belongs to the store.
    func plan(_ hold: borrowing ExclusiveHold, carrying otherFiles: OtherSupportFiles? = nil) async throws -> Plan {
        let rows = try await ReferringFile(
            ofStore: home.path, busyTimeout: busyHandler.busyTimeout, through: hold.connection.queue)
        removal.cancel()
        // An earlier removal may have left files before the app made the store anew.
        _ = try await finishKilled(besides: rows)
        return try await plan(of: rows, carrying: otherFiles)
    }

    private func plan(
        of rows: ReferringFile, besides kept: ReferringFile = .noStore, carrying otherFiles: OtherSupportFiles?
    ) async throws -> Plan {
        let claims = try await SupportFolderClaims(
            beside: home, besides: kept, waiting: busyHandler.busyTimeout, under: supportLock)
        let content = try home.supportFolder.content()
        let record = try RestoreRecord(of: home)
        let unreferred = Set(content.compactMap(SupportFolder.name(of:)).filter { record?.lists($0) == true })
        return Plan(
            rows: rows, claims: claims, arrived: try arrived(of: otherFiles, rows, claims), unreferred: unreferred,
            content: content)
    }

    /// - Parameter target: Its new place; `nil` if it has none.
    func remove(_ hold: borrowing ExclusiveHold, as plan: Plan, to target: StoreHome? = nil) throws -> Outcome {
        try busyHandler.check()
        try hold.begin(removal, after: target)
        return try finish(plan)
    }

    /// Finishes a removal that was killed.
    ///
    /// - Parameter rows: The rows of a store that has the same name now.
    /// - Returns: `nil` if none is under way.
    func finishKilled(
        besides rows: ReferringFile = .noStore, carrying otherFiles: OtherSupportFiles? = nil
    ) async throws -> Outcome? {
        try removal.sweep()
        guard let store = try removal.store else { return nil }
        let removed = try await ReferringFile(ofStore: store, busyTimeout: busyHandler.busyTimeout)
        let plan = try await plan(of: removed, besides: rows, carrying: otherFiles)
        try busyHandler.check()
        return try finish(plan)
    }

    /// The files in the store's support folder to which no row can refer, and that are at its new place already.
    ///
    /// - Returns: `nil` where they may belong to another store of the same stem, or the store keeps no external files.
    private func arrived(
        of otherFiles: OtherSupportFiles?, _ rows: ReferringFile, _ claims: SupportFolderClaims
    ) throws(OperationError) -> [FilePath]? {
        guard claims.permitRemoval, claims.user == nil, rows.isCoreData else { return nil }
        return try otherFiles?.arrived() ?? []
    }

    /// This takes little time, and does not stop when the task is cancelled.
    private func finish(_ plan: Plan) throws(OperationError) -> Outcome {
        let support = home.supportFolder
        let own = plan.rows.ownFiles?.union(plan.unreferred)
        let removedLinks = try OperationError.wrapping { () throws(FileError) in
            try support.removeForGood(plan.claims.solely(own))
            if let arrived = plan.arrived { try support.removeForGood(arrived) }
            var removedLinks: [FilePath] = []
            // Not before: by them the same command finds what a kill has left.
            try removal.finish { removedLinks = named.removeLinks() }
            return removedLinks
        }
        let left = plan.content.filter { place in
            // What cannot be looked at may be there.
            (try? PlatformCalls.isThere(support.path.appending(place.components))) ?? true
        }
        let unreadable = plan.rows == .unreadable ? home.path : nil
        return (support.remaining(left, plan.claims, unreadable: unreadable), removedLinks)
    }
}

extension SupportFolder {
    /// The files that stay in the folder, by their paths there, and why.
    func remaining(
        _ places: [FilePath], _ claims: SupportFolderClaims, unreadable: FilePath? = nil
    ) -> [RemainingFile] {
        places.map { place in
            RemainingFile(
                path.appending(place.components),
                claims.reason(for: SupportFolder.name(of: place), besides: unreadable))
        }
    }
}
