import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreOperations
import StoreServing
import StoreSnapshot
import SystemPackage

/// The copy that a store is restored from: a folder with a manifest, or a compact copy of any store, which is removed with this value.
struct RestoreSource: ~Copyable, Sendable {
    let manifest: Manifest
    /// A store in rollback mode that does not change.
    let store: FilePath
    /// In the order of the manifest.
    let files: [(file: ExternalFile, path: FilePath)]
    /// The generation that still has to be proven complete and sound (`prove`); `nil` for a copy that has just been taken.
    let unproven: Generation?
    /// SHA-256 of its schema, as `StoreSurvey` has it.
    let schema: ContentDigest?
    /// Where the store was that it is a copy of; `nil` if that is unknown.
    let original: FilePath?
    private let copy: PreparedCopy?
    /// Keeps the copy's folder from being pruned; `nil` where no folder is read, or where there are no locks.
    private let hold: FolderLock?

    /// Takes a compact copy of a store.
    init(_ copy: consuming PreparedCopy, of original: FilePath? = nil) async throws(SnapshotError) {
        schema = try await SourceStore(at: copy.copy.path).survey(externalFiles: false).schema
        self.original = original
        manifest = copy.manifest
        store = copy.copy.path
        files = copy.files
        unproven = nil
        hold = nil
        self.copy = consume copy
    }

    private init(_ generation: Generation, _ survey: StoreSurvey, _ hold: consuming FolderLock?) {
        schema = survey.schema
        original = (try? KeptCopy(at: generation.path))?.originalStore
        manifest = generation.manifest
        store = generation.storePath
        files = manifest.externalFiles.enumerated().map { index, file in
            (file, generation.path(ofPart: index + 1))
        }
        unproven = generation
        copy = nil
        self.hold = hold
    }

    /// Reads all of a copy and proves that it is complete and sound.
    ///
    /// - Parameter generation: `nil` for a copy that needs no proof.
    /// - Throws: `OperationError.badCopy`, `StoreCheck.Flaw`.
    static func prove(
        _ generation: Generation?, takingDamaged takesDamaged: Bool, _ checking: CheckOptions
    ) async throws {
        guard let generation else { return }
        // Both read the whole store: side by side they take half the time.
        async let soundness: Void = soundness(of: generation, takingDamaged: takesDamaged, checking)
        do throws(InboxError) {
            try generation.compareWithManifest()
        } catch {
            throw OperationError.badCopy(error)
        }
        try await soundness
    }

    private static func soundness(
        of generation: Generation, takingDamaged takesDamaged: Bool, _ checking: CheckOptions
    ) async throws {
        do {
            _ = try await checking.check(generation.storePath, against: StoreClaims(generation.manifest))
        } catch StoreCheck.Flaw.unsound where takesDamaged {}
    }

    /// - Parameters:
    ///   - path: The folder of a kept copy or of a generation, the store in it, or any other store.
    ///   - takesIncomplete: Whether the copy may lack something.
    /// - Throws: `OperationError.noSuchCopy`, `.badCopy`, `.incompleteCopy`, `.folderBusy`, `.stopped`; what a compact copy may
    ///   throw.
    static func find(
        _ path: FilePath, _ options: CopyOptions, takingIncomplete takesIncomplete: Bool,
        _ busyHandler: BusyHandler
    ) async throws -> RestoreSource {
        let real: FilePath
        do throws(FileError) {
            real = try PlatformCalls.realPath(of: path)
        } catch {
            let error = SnapshotError(finding: path, error)
            throw error == .noSuchFile(path) ? OperationError.noSuchCopy(path) : error as any Error
        }
        func check(_ omissions: Omissions?) throws {
            if !takesIncomplete, let omissions { throw OperationError.incompleteCopy(path, omissions) }
        }
        if let folder = folder(of: real) {
            let hold = try pin(folder, busyHandler)
            // It may have been pruned during the wait.
            guard try PlatformCalls.isThere(folder) else { throw OperationError.noSuchCopy(path) }
            let generation = try generation(at: folder)
            if !options.takesDamaged, let damage = (try? KeptCopy(at: folder))?.damage {
                throw OperationError.damagedCopy(path, damage)
            }
            try check(generation.manifest.omissions)
            let survey = try await SourceStore(at: generation.storePath).survey(externalFiles: false)
            try check(survey.omissions)
            if survey.omissions == nil { return RestoreSource(generation, survey, hold) }
            // Its mark must not become part of the store.
            var options = options
            options.allowsMissingExternalFiles = true
            try await prove(generation, takingDamaged: options.takesDamaged, CheckOptions())
            let copy = try await PreparedCopy(of: generation.storePath, options)
            return try await RestoreSource(copy, of: (try? KeptCopy(at: folder))?.originalStore)
        }
        guard try PlatformCalls.status(of: real).kind != .folder else { throw OperationError.noSuchCopy(path) }
        // Before the copy, which would fail where a file was left out.
        try check(
            try await SourceStore(at: path, busyTimeout: options.busyTimeout).survey(externalFiles: false).omissions)
        return try await RestoreSource(PreparedCopy(of: path, options))
    }

    /// Keeps a copy, or a generation, from being pruned while it is read.
    private static func pin(_ folder: FilePath, _ busyHandler: BusyHandler) throws(OperationError) -> FolderLock? {
        do throws(OperationError) {
            return try FolderLock.take(.shared, on: folder, busyHandler)
        } catch {
            // A copy on a medium without locks can be restored: no program prunes there.
            guard case .file = error else { throw error }
            return nil
        }
    }

    private static func generation(at folder: FilePath) throws(OperationError) -> Generation {
        do throws(InboxError) {
            return try Generation(at: folder)
        } catch {
            throw .badCopy(error)
        }
    }

    /// The folder of a kept copy or of a generation that a path leads to.
    private static func folder(of path: FilePath) -> FilePath? {
        func isCopy(_ folder: FilePath) -> Bool {
            (try? PlatformCalls.status(of: folder.appending(InboxLayout.manifestFile)))?.kind == .file
        }
        if isCopy(path) { return path }
        let folder = path.removingLastComponent()
        guard isCopy(folder), let generation = try? Generation(at: folder), generation.storePath == path else {
            return nil
        }
        return folder
    }

    /// All files that the store refers to, whether the copy has them or not: the store may still have the others.
    var references: Set<ExternalFileName> {
        Set(manifest.externalFiles.map(\.name) + manifest.missingExternalFiles)
            .union(manifest.omissions?.externalFiles.map(\.name) ?? [])
    }
}
