import GRDB
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Puts a compact copy and its external files at a path that the user has named, durably and verified, where nothing is, or in
/// the place of an older copy, in one step as readers see it.
package struct StorePlacement: Sendable {
    private let home: StoreHome
    private let older: (identity: FileStatus.Identity, files: Set<ExternalFileName>)?
    private let inWALMode: Bool
    private let attributes: FileAttributes?
    private let isDamaged: Bool

    /// - Parameters:
    ///   - older: An older copy, this very file, which is replaced, and the external files that its rows refer to. Processes that
    ///     have it open keep it. `nil` if nothing may be there.
    ///   - inWALMode: Whether the store is to be in WAL mode, as one that an app goes on with, and not in rollback mode, as a compact
    ///     copy to which nothing is written.
    ///   - attributes: Of the store and of its external files; `nil` for this user alone to read and write.
    ///   - isDamaged: Whether the copy is of a damaged store, and may fail SQLite's check.
    package init(
        at home: StoreHome, over older: (identity: FileStatus.Identity, files: Set<ExternalFileName>)? = nil,
        inWALMode: Bool = false, attributes: FileAttributes? = nil, isDamaged: Bool = false
    ) {
        self.home = home
        self.older = older
        self.inWALMode = inWALMode
        self.attributes = attributes
        self.isDamaged = isDamaged
    }

    /// First the external files, each under a name of its own, then the store, by one rename; then, in the place of an
    /// older copy, the files that it alone has referred to.
    ///
    /// - Parameters:
    ///   - store: On the same file system it is not copied, but gets a second name here.
    ///   - files: In the order of the manifest.
    ///   - claims: What other stores of the same stem refer to: into a folder that one of them uses nothing is put.
    /// - Throws: `.storeIsSidecar`, `.sidecar`, `.occupied`, `.sharedSupportFolder`, `.linkedSupportFolder`, `.notVerified`, `.noSpace`,
    ///   `.file`; what was there is as it was.
    package func place(
        _ manifest: Manifest, store: FilePath, files: [(file: ExternalFile, path: FilePath)],
        beside claims: SupportFolderClaims
    ) throws(OperationError) {
        try home.refuseStrangeSidecars()
        let staging = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(making: home.folder)
        }
        for sidecar in home.sidecars where try exists(sidecar) { throw .sidecar(sidecar) }
        if older == nil, try exists(home.path) { throw .occupied(home.path) }
        let support = home.supportFolder
        if !files.isEmpty, let user = claims.user { throw .sharedSupportFolder(support.path, with: user) }
        let staged = staging.path.appending("store.sqlite")
        try stage(store, as: staged, manifest.store)
        let comparison = try OperationError.wrapping { () throws(FileError) in try support.compare(with: files) }
        try support.refuseIfLinked(toPut: comparison.missing + comparison.different)
        // The external files that go with the older copy.
        let replaced = older.map { claims.solely($0.files) } ?? []
        // A file that no row is known to refer to is not ours to replace.
        for file in comparison.different where !replaced.contains(file.file.name) {
            throw .occupied(support.path(of: file.file.name))
        }
        let names = try OperationError.wrapping { () throws(FileError) in try support.names() }
        let obsolete = replaced.subtracting(files.map(\.file.name)).intersection(names)
        let removal = StoreRemoval(of: home)
        var isNoted = false
        let kept = staging.path.appending("replaced")
        let placed: FileStatus.Identity
        do throws(FileError) {
            placed = try PlatformCalls.status(of: staged).identity
            try support.keep(comparison.different, in: kept)
            try support.put(comparison.missing + comparison.different, attributes: attributes)
            let after = try support.compare(with: files)
            guard after.missing.isEmpty, after.different.isEmpty else { throw FileError(.read, support.path, .ioError) }
            // After a kill the older copy still says which files were its own.
            isNoted = !obsolete.isEmpty && (try? removal.beginReplacing()) != nil
            if !obsolete.isEmpty, !isNoted { removal.cancel() }
            try install(staged)
        } catch {
            _ = support.putBack(comparison.different, from: kept)
            support.remove(comparison.missing.map(\.file.name))
            if isNoted { try? removal.finish {} }
            throw error.errno == .fileExists ? .occupied(home.path) : .file(error)
        }
        do throws(FileError) {
            try Folder.sync(home.folder)
        } catch {
            // The new copy is there, and refers to its files; only where nothing was can it be taken back.
            if older == nil, (try? PlatformCalls.status(of: home.path))?.identity == placed,
                (try? PlatformCalls.removeFile(home.path)) != nil
            {
                support.remove(comparison.missing.map(\.file.name))
            }
            throw .file(error)
        }
        guard !obsolete.isEmpty else { return }
        support.remove(obsolete)
        if isNoted { try OperationError.wrapping { () throws(FileError) in try removal.finish {} } }
    }

    private func exists(_ path: FilePath) throws(OperationError) -> Bool {
        try OperationError.wrapping { () throws(FileError) in try PlatformCalls.isThere(path) }
    }

    /// The store as it is going to be, out of sight; what is compared comes from the medium.
    private func stage(_ store: FilePath, as staged: FilePath, _ facts: StoreFacts) throws(OperationError) {
        let isWhole = try OperationError.wrapping { () throws(FileError) in
            try OpenFile.linkOrCopy(store, to: staged, mode: .ownerReadWrite)
            let file = try OpenFile.readingWithoutFollowing(staged)
            PlatformCalls.dropCache(of: file.descriptor)
            guard try file.size == facts.size else { return false }
            return try ContentDigest(ofFile: file) == facts.sha256
        }
        guard isWhole else { throw .notVerified(home.path) }
        if inWALMode { try enterWALMode(staged) }
        try OperationError.wrapping { () throws(FileError) in
            let file = try OpenFile.readingWithoutFollowing(staged)
            try attributes?.give(to: file)
            try file.sync()
        }
    }

    private func enterWALMode(_ staged: FilePath) throws(OperationError) {
        let busyHandler = BusyHandler(busyTimeout: .zero)
        let connection = try LiveConnection(to: staged, busyHandler)
        let complaints = try connection.run { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            if isDamaged { return ["ok"] }
            // `quick_check` may complain of an intact store where `integrity_check` does not: see `StoreCheck`.
            let complaints = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
            return complaints == ["ok"]
                ? complaints : try String.fetchAll(database, sql: "PRAGMA integrity_check(1)")
        }
        guard complaints == ["ok"] else { throw .notVerified(home.path) }
        do {
            // The log goes with the last connection.
            try connection.queue.close()
        } catch {
            throw OperationError(error, on: home.path, busyHandler)
        }
    }

    private func install(_ staged: FilePath) throws(FileError) {
        guard let older else {
            return try PlatformCalls.place(staged, atFree: home.path)
        }
        // Something else may have been put there since it was looked at.
        guard try PlatformCalls.status(of: home.path).identity == older.identity else {
            throw FileError(.rename, home.path, .fileExists)
        }
        try PlatformCalls.rename(staged, to: home.path)
    }
}

/// In the place of a store that is lost or damaged.
extension StorePlacement {
    /// Puts the store where one was lost, or where one is that SQLite cannot open: durably, verified, and in one step as readers see it.
    ///
    /// - Parameters:
    ///   - damaged: Keeps what was there.
    ///   - store: It stays as it is.
    ///   - files: In the order of the manifest.
    ///   - claims: What other stores of the same stem refer to: of that nothing is replaced.
    /// - Returns: Where what was there is kept; `nil` if nothing was.
    /// - Throws: `.occupied`, `.sharedSupportFolder`, `.linkedSupportFolder`, `.storeIsSidecar`, `.notVerified`, `.busy`,
    ///   `.noSpace`, `.file`; what was there is as it was.
    package func replace(
        keeping damaged: DamagedStore, by manifest: Manifest, store: FilePath,
        files: [(file: ExternalFile, path: FilePath)],
        beside claims: SupportFolderClaims, _ busyHandler: BusyHandler
    ) throws(OperationError) -> FilePath? {
        try home.refuseStrangeSidecars()
        let support = home.supportFolder
        let comparison = try OperationError.wrapping { () throws(FileError) in try support.compare(with: files) }
        try claims.refuse(toReplace: comparison.different, in: support)
        try support.refuseIfLinked(toPut: comparison.missing + comparison.different)
        let staging = try OperationError.wrapping { () throws(FileError) in
            try TemporaryFolder(in: home.folder, .besideResults)
        }
        let copy = staging.path.appending("copy.sqlite")
        try OperationError.wrapping { () throws(FileError) in try OpenFile.copy(store, to: copy) }
        let staged = staging.path.appending("store.sqlite")
        try stage(copy, as: staged, manifest.store)
        var copies: [DamagedStore.Copy] = []
        let replaced = staging.path.appending("replaced")
        let isKept: Bool
        do {
            isKept = try damaged.prepare(losingFiles: !comparison.different.isEmpty, noting: &copies)
            try support.keep(comparison.different, in: replaced)
            try support.put(comparison.missing + comparison.different, attributes: attributes)
            let after = try support.compare(with: files)
            guard after.missing.isEmpty, after.different.isEmpty else { throw FileError(.read, support.path, .ioError) }
            try install(staged, keeping: damaged, copies, busyHandler)
        } catch {
            _ = support.putBack(comparison.different, from: replaced)
            damaged.undo(copies)
            support.remove(comparison.missing.map(\.file.name))
            let error = OperationError(error, on: home.path, busyHandler)
            if case .file(let file) = error, file.errno == .fileExists { throw .occupied(file.path) }
            throw error
        }
        // The store is there. If this fails, it is unknown whether it survives a power cut.
        try OperationError.wrapping { () throws(FileError) in try Folder.sync(home.folder) }
        return isKept ? damaged.folder : nil
    }

    private func install(
        _ staged: FilePath, keeping damaged: DamagedStore, _ copies: [DamagedStore.Copy], _ busyHandler: BusyHandler
    ) throws {
        guard try PlatformCalls.isThere(home.path) else {
            try damaged.takeSidecars()
            return try PlatformCalls.place(staged, atFree: home.path)
        }
        // From here on no process opens the old file that does not have it open already.
        let quiet = try QuietStore(home.path, besideReaders: true, busyHandler)
        // Something else may have been put there meanwhile, of which nothing is kept.
        guard try damaged.isInPlace(copies) else { throw FileError(.rename, home.path, .fileExists) }
        try damaged.takeSidecars()
        try PlatformCalls.rename(staged, to: home.path)
        _ = consume quiet
    }
}
