public import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
public import SystemPackage

/// A compact copy of a live store on the same device, in a folder of the user's: `copy`.
public struct LocalCopy: Hashable, Sendable {
    public let path: FilePath
    /// What a consumer would be told of it.
    public let manifest: Manifest

    /// Where its external files are, in the order of the manifest.
    public var externalFiles: [FilePath] {
        let support = StoreHome(path).supportFolder
        return manifest.externalFiles.map { support.path(of: $0.name) }
    }

    /// Takes the copy, and puts it into `folder`, durably and in one step, as `<basename>-<yyyyMMddTHHmmss>.sqlite` (UTC),
    /// with `-2` and so on before the extension if there is such a file already; the source is left alone.
    public static func take(
        of store: FilePath, into folder: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        do {
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let baseName = store.lastComponent?.stem ?? "store"
            let space = try OperationRoom.promise(
                prepared.manifest.totalSize, in: folder, leaving: options.keptFree)
            defer { withExtendedLifetime(space) {} }
            let placement = CopyPlacement(in: folder, name: "\(baseName)-\(prepared.manifest.createdAt.compactText)")
            let path = try placement.place(
                store: prepared.copy.path,
                externalFiles: prepared.copy.externalFiles.map { ($0.file.name, $0.path) })
            return LocalCopy(path: path, manifest: prepared.manifest)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Takes the copy, and puts it into `folder` under a name of its own, in the place of an older copy of the same store
    /// if there is one: whoever opens that path finds one or the other, whole.
    ///
    /// - Throws: `.operation(.occupied)` if something else is there, `.operation(.sidecar)` if somebody writes to it,
    ///   `.operation(.supportFolderBusy)` while another operation is at work on the external files there.
    public static func take(
        of store: FilePath, into folder: FilePath, as name: CopyFileName, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let home = StoreHome(folder.appending(name.text))
            let real = NamedStore(home.path)
            try real.home.refuseIfKept(.replace)
            if (try? StoreHome(resolving: store)) == (try? StoreHome(resolving: home.path)) {
                throw OperationError.sameStore(home.path)
            }
            let prepared = try await PreparedCopy(of: store, options.markingOmissions)
            let size = OperationRoom.ofPlacing(prepared.manifest, prepared.copy.path, in: folder)
            let space = try OperationRoom.promise(size, in: folder, leaving: options.keptFree)
            let lock = try SupportFolderLock.take(
                home.supportFolder, to: prepared.files.isEmpty ? .remove : .put, patience)
            defer { withExtendedLifetime((space, lock)) {} }
            // Another update may have come first.
            let occupant = try await occupant(of: home, for: prepared.manifest)
            // What an update left that was killed before it had removed the older copy's files.
            if case .olderCopy(_, let files) = occupant {
                _ = try await RemovalSession(named: NamedStore(home.path), supportLock: lock, patience: patience)
                    .finishKilled(besides: .coreData(files))
            }
            let claims = await SupportFolderClaims(beside: home, waiting: options.busyTimeout, under: lock)
            try patience.check()
            try StorePlacement(at: home, over: occupant)
                .place(prepared.manifest, store: prepared.copy.path, files: prepared.files, beside: claims)
            return LocalCopy(path: home.path, manifest: prepared.manifest)
        }
    }

    /// Identity proves an older copy of the same store; where there is none, the schema has to be the same.
    private static func occupant(of home: StoreHome, for copy: Manifest) async throws -> StorePlacement.Occupant {
        guard let status = try? PlatformCalls.status(of: home.path) else { return .nobody }
        guard status.kind == .file, let survey = try? await SourceStore(at: home.path).survey(),
            survey.identity == copy.identity,
            survey.identity != nil || survey.schemaSHA256 == copy.store.schemaSHA256
        else { throw OperationError.occupied(home.path) }
        return .olderCopy(status.identity, survey.externalFiles)
    }
}
