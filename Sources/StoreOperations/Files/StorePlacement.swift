import GRDB
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Puts a compact copy and its external files at a path that the user has named, durably and verified, where nothing is,
/// or in the place of an older copy in one step for whoever opens it.
package struct StorePlacement: Sendable {
    private let home: StoreHome
    private let occupant: Occupant
    private let journal: Journal
    private let mode: FilePermissions

    /// What may be there.
    package enum Occupant: Hashable, Sendable {
        case nobody
        /// An older copy, this very file, whose rows refer to these external files, and which is replaced. Whoever has it
        /// open keeps it.
        case olderCopy(FileStatus.Identity, Set<ExternalFileName>)
    }

    /// How the store is to keep its transactions at its new place.
    package enum Journal: Hashable, Sendable {
        /// As a compact copy does: nothing is written to it.
        case rollback
        /// As a store does that an app goes on with.
        case writeAheadLog
    }

    /// - Parameter mode: Of the store and of its external files.
    package init(
        at home: StoreHome, over occupant: Occupant, _ journal: Journal = .rollback,
        mode: FilePermissions = .ownerReadWrite
    ) {
        self.home = home
        self.occupant = occupant
        self.journal = journal
        self.mode = mode
    }

    /// First the external files, each under a name of its own, then the store, by one rename; then, in the place of an
    /// older copy, the files that it alone has referred to.
    ///
    /// - Parameters:
    ///   - store: On the same file system it is not copied, but gets a second name here.
    ///   - files: In the order of the manifest.
    ///   - claims: What other stores of the same stem refer to: into a folder that one of them uses nothing is put.
    /// - Throws: `.sidecar`, `.occupied`, `.sharedSupportFolder`, `.linkedSupportFolder`, `.notVerified`, `.noSpace`, `.file`;
    ///   what was there is as it was.
    package func place(
        _ manifest: Manifest, store: FilePath, files: [FileAtHand], beside claims: SupportFolderClaims
    ) throws(OperationError) {
        try OperationError.wrapping { () throws(FileError) in try Folder.make(home.folder) }
        for sidecar in home.sidecars where exists(sidecar) { throw .sidecar(sidecar) }
        if occupant == .nobody, exists(home.path) { throw .occupied(home.path) }
        let support = home.supportFolder
        if !files.isEmpty, let user = claims.user { throw .sharedSupportFolder(support.path, with: user) }
        let staging = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(in: home.folder, .besideResults)
        }
        let staged = staging.path.appending("store.sqlite")
        try stage(store, as: staged, manifest.store)
        let comparison = try OperationError.wrapping { () throws(FileError) in try support.compare(with: files) }
        try support.refuseIfLinked(toPut: comparison.missing + comparison.different)
        let replaced = occupant.files(besides: claims)
        // What nobody is known to refer to is not ours to replace.
        for file in comparison.different where !replaced.contains(file.file.name) {
            throw .occupied(support.path(of: file.file.name))
        }
        let obsolete = replaced.subtracting(files.map(\.file.name)).intersection(support.names())
        // After a kill the older copy still says which files were its own.
        let removal = StoreRemoval(of: home)
        if !obsolete.isEmpty { try? removal.beginReplacing() }
        do throws(FileError) {
            try support.put(comparison.missing + comparison.different, mode: mode)
            let after = try support.compare(with: files)
            guard after.missing.isEmpty, after.different.isEmpty else { throw FileError(.read, support.path, .ioError) }
            try install(staged)
        } catch {
            support.remove(comparison.missing.map(\.file.name))
            if !obsolete.isEmpty { try? removal.finish() }
            throw error.errno == .fileExists ? .occupied(home.path) : .file(error)
        }
        do throws(FileError) {
            try Folder.sync(home.folder)
        } catch {
            // The new copy is there, and refers to its files; only where nothing was can it be taken back.
            let placed = try? PlatformCalls.status(of: home.path).identity
            if occupant == .nobody, placed != nil, placed == (try? PlatformCalls.status(of: staged).identity),
                (try? PlatformCalls.removeFile(home.path)) != nil
            {
                support.remove(comparison.missing.map(\.file.name))
            }
            throw .file(error)
        }
        guard !obsolete.isEmpty else { return }
        support.remove(obsolete)
        try OperationError.wrapping { () throws(FileError) in try removal.finish() }
    }

    private func exists(_ path: FilePath) -> Bool { (try? PlatformCalls.status(of: path)) != nil }

    /// The store as it is going to be, out of sight; what is compared comes from the medium.
    func stage(_ store: FilePath, as staged: FilePath, _ facts: StoreFacts) throws(OperationError) {
        let isWhole = try OperationError.wrapping { () throws(FileError) in
            try DurableCopy.take(store, as: staged, mode: .ownerReadWrite)
            let file = try OpenFile.readingWithoutFollowing(staged)
            PlatformCalls.dropCache(of: file.descriptor)
            guard try file.size == facts.size else { return false }
            return try FileDigest.sha256(of: file) == facts.sha256
        }
        guard isWhole else { throw .notVerified(home.path) }
        if journal == .writeAheadLog { try enterWALMode(staged) }
        try OperationError.wrapping { () throws(FileError) in
            let file = try OpenFile.readingWithoutFollowing(staged)
            try PlatformCalls.changeMode(of: staged, to: mode)
            try file.sync()
        }
    }

    private func enterWALMode(_ staged: FilePath) throws(OperationError) {
        let patience = Patience(busyTimeout: .zero)
        let connection = try LiveConnection(to: staged, .shared, patience)
        let complaints = try connection.run { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // It may complain of what is whole, where the other one does not: see `StoreCheck`.
            let complaints = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
            return complaints == ["ok"]
                ? complaints : try String.fetchAll(database, sql: "PRAGMA integrity_check(1)")
        }
        guard complaints == ["ok"] else { throw .notVerified(home.path) }
        do {
            // The log goes with the last connection.
            try connection.queue.close()
        } catch {
            throw OperationError(error, on: home.path, patience)
        }
    }

    private func install(_ staged: FilePath) throws(FileError) {
        switch occupant {
        case .nobody:
            // A second name is never made over something else, as a rename is.
            try PlatformCalls.hardLink(staged, as: home.path)
        case .olderCopy(let identity, _):
            // Somebody may have put something else there since it was looked at.
            guard try PlatformCalls.status(of: home.path).identity == identity else {
                throw FileError(.rename, home.path, .fileExists)
            }
            try PlatformCalls.rename(staged, to: home.path)
        }
    }
}

extension StorePlacement.Occupant {
    /// The external files that go with it.
    fileprivate func files(besides claims: SupportFolderClaims) -> Set<ExternalFileName> {
        switch self {
        case .nobody: []
        case .olderCopy(_, let files): claims.solely(files)
        }
    }
}
