public import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

/// A compact copy of a live store on the same device, in a folder of the user's: `copy`.
public struct LocalCopy: Hashable, Sendable {
    public let path: FilePath
    /// The manifest that a consumer would get with it.
    public let manifest: Manifest
    /// The first complaint of SQLite's check of it; `nil` for a sound copy.
    public let damage: ForeignText?

    /// The paths of its external files, in the order of the manifest.
    public var externalFiles: [FilePath] {
        let support = StoreHome(path).supportFolder
        return manifest.externalFiles.map { support.path(of: $0.name) }
    }

    /// Takes the copy, and puts it into `folder`, durably and in one step, as `<basename>-<yyyyMMddTHHmmss>.sqlite` (UTC),
    /// with `-2` and so on before the extension if there is such a file already; the source is left alone.
    public static func take(
        of store: FilePath, into folder: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        try await ShipmentError.awaiting {
            try KeptPlace.refuseToFill(folder)
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let baseName = store.stemText
            let space = try DiskReservation.make(prepared.manifest.totalSize, in: folder, leaving: options.keptFree)
            defer { withExtendedLifetime(space) {} }
            let placement = CopyPlacement(in: folder, name: "\(baseName)-\(prepared.manifest.createdAt.compactText)")
            let path = try placement.place(
                store: prepared.copy.path,
                externalFiles: prepared.copy.externalFiles.map { ($0.file.name, $0.path) })
            return LocalCopy(path: path, manifest: prepared.manifest, damage: prepared.copy.damage)
        }
    }

    /// Takes the copy, and puts it into `folder` under the given name, in place of an older copy of the same store if there is
    /// one. A program that opens the path finds one or the other, complete.
    ///
    /// - Throws: `.operation(.occupied)` if something else is there, `.operation(.sidecar)` if a program writes to it,
    ///   `.operation(.supportFolderBusy)` while another operation is at work on the external files there.
    public static func take(
        of store: FilePath, into folder: FilePath, as name: CopyFileName, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            try KeptPlace.refuseToFill(folder)
            let home = StoreHome(folder.appending(text: name.text))
            let real = try NamedStore(home.path)
            try real.home.refuseIfKept(.replace)
            if let source = try? StoreHome(resolving: store), source == (try? StoreHome(resolving: home.path)) {
                throw OperationError.sameStore(home.path)
            }
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let size = DiskReservation.sizeToPlace(prepared.manifest, prepared.copy.path, in: folder)
            let space = try DiskReservation.make(size, in: folder, leaving: options.keptFree)
            let lock = try SupportFolderLock.take(home.supportFolder, toPut: !prepared.files.isEmpty, busyHandler)
            defer { withExtendedLifetime((space, lock)) {} }
            let session = RemovalSession(named: real, supportLock: lock, busyHandler: busyHandler)
            // An update may have been killed before its copy was there: then the older one has two names.
            session.removal.cancelReplacing()
            // Another update may have been first.
            let older = try await olderCopy(at: home, of: prepared.manifest, options)
            // An update may have been killed before it removed the older copy's files.
            if let older { _ = try await session.finishKilled(besides: .store(older.files, isCoreData: true)) }
            let claims = try await SupportFolderClaims(beside: home, waiting: options.busyTimeout, under: lock)
            try busyHandler.check()
            let attributes = try older.map { _ throws in try FileAttributes(of: home.path) }
            try StorePlacement(at: home, over: older, attributes: attributes)
                .place(prepared.manifest, store: prepared.copy.path, files: prepared.files, beside: claims)
            return LocalCopy(path: home.path, manifest: prepared.manifest, damage: prepared.copy.damage)
        }
    }

    /// An equal identity proves that a file is an older copy of the same store; without identities, the form of a copy does, and that the store
    /// still has all its tables: the app may have migrated it. A file in WAL mode is no copy: an app uses it. One with a log is refused for
    /// that, later.
    ///
    /// - Returns: The older copy, and the external files that its rows refer to; `nil` if nothing is there.
    private static func olderCopy(
        at home: StoreHome, of copy: Manifest, _ options: CopyOptions
    ) async throws -> (identity: FileStatus.Identity, files: Set<ExternalFileName>)? {
        guard let status = try PlatformCalls.statusIfThere(of: home.path) else { return nil }
        // To read it may make a log.
        let hasLog = try PlatformCalls.isThere(home.log)
        let survey: StoreSurvey?
        do throws(SnapshotError) {
            survey = status.kind == .file ? try await SourceStore(at: home.path).survey() : nil
        } catch {
            guard !error.isOfSystem else { throw error }
            survey = nil
        }
        guard let survey, hasLog || !survey.isInWALMode,
            survey.identity == copy.identity
        else { throw OperationError.occupied(home.path) }
        if survey.identity == nil, !hasLog {
            do {
                // What is left out of the store now may not have been there.
                var options = options
                options.profile = CopyProfile()
                let older = try await PreparedCopy.ofBundle(at: home.path, named: copy.name, options).manifest
                guard copy.hasAllTables(of: older) else { throw OperationError.occupied(home.path) }
            } catch OperationError.notCanonical {
                throw OperationError.occupied(home.path)
            }
        }
        return (status.identity, survey.externalFiles)
    }
}
