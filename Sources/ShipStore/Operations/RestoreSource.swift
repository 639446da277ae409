import EssentialFoundation
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreOperations
import StoreServing
import StoreSnapshot
import SystemPackage

/// The copy that a store is restored from: one of a folder with its manifest, or a compact copy of any store, which then
/// goes away with the owner of this.
struct RestoreSource: ~Copyable, Sendable {
    let manifest: Manifest
    /// A store in rollback mode that nobody changes.
    let store: FilePath
    /// In the order of the manifest.
    let files: [FileAtHand]
    /// Whether it is whole and sound, which may still have to be found out.
    let proof: Proof
    /// SHA-256 of its schema, as `StoreSurvey` has it.
    let schema: ContentDigest?
    private let copy: PreparedCopy?
    /// What keeps the copy's folder from being pruned; `nil` where none is read, or where there are no locks.
    private let hold: FolderLock?

    /// Takes over a copy of a store.
    ///
    /// - Parameter schema: Of the copy, from `schema(of:)`.
    init(_ copy: consuming PreparedCopy, schema: ContentDigest?) {
        self.schema = schema
        manifest = copy.manifest
        store = copy.copy.path
        files = copy.files
        proof = .given
        hold = nil
        self.copy = consume copy
    }

    static func schema(of copy: FilePath) async throws(SnapshotError) -> ContentDigest? {
        try await SourceStore(at: copy).survey(.facts).schema
    }

    private init(_ generation: Generation, _ survey: StoreSurvey, _ hold: consuming FolderLock?) {
        schema = survey.schema
        manifest = generation.manifest
        store = generation.storePath
        files = manifest.externalFiles.enumerated().map { index, file in
            FileAtHand(file, at: generation.path(ofPart: index + 1))
        }
        proof = .reading(generation)
        copy = nil
        self.hold = hold
    }

    /// What it takes to know that a copy is whole and sound.
    enum Proof: Sendable {
        /// Nothing: it has just been taken.
        case given
        /// Reading all of it.
        case reading(Generation)

        /// - Throws: `OperationError.badCopy`, `StoreCheck.Flaw`.
        func find(_ checking: CheckOptions) async throws {
            guard case .reading(let generation) = self else { return }
            // Both read the whole store: side by side they take half the time.
            async let soundness = checking.check(generation.storePath, against: StoreClaims(generation.manifest))
            do throws(InboxError) {
                try generation.compareWithManifest()
            } catch {
                throw OperationError.badCopy(error)
            }
            _ = try await soundness
        }
    }

    /// - Parameters:
    ///   - path: The folder of a kept copy or of a generation, the store in it, or any other store.
    ///   - rule: What becomes of one that came without something.
    /// - Throws: `OperationError.noSuchCopy`, `.badCopy`, `.incompleteCopy`, `.folderBusy`, `.stopped`; what a compact copy may
    ///   throw.
    static func find(
        _ path: FilePath, _ options: CopyOptions, incomplete rule: RestoreOptions.IncompleteCopyRule,
        _ patience: Patience
    ) async throws -> RestoreSource {
        guard let real = try? PlatformCalls.realPath(of: path) else { throw OperationError.noSuchCopy(path) }
        func check(_ omissions: Omissions?) throws {
            if rule == .refused, let omissions { throw OperationError.incompleteCopy(path, omissions) }
        }
        if let folder = folder(of: real) {
            let hold = try pin(folder, patience)
            // It may have been pruned while somebody waited.
            guard (try? PlatformCalls.status(of: folder)) != nil else { throw OperationError.noSuchCopy(path) }
            let generation = try generation(at: folder)
            try check(generation.manifest.omissions)
            let survey = try await SourceStore(at: generation.storePath).survey(.facts)
            try check(survey.omissions)
            if survey.omissions == nil { return RestoreSource(generation, survey, hold) }
            // What it says of itself is not to become part of the store.
            var options = options
            options.missingExternalFiles = .shipWithout
            try await Proof.reading(generation).find(CheckOptions())
            let copy = try await PreparedCopy(of: generation.storePath, options)
            let schema = try await schema(of: copy.copy.path)
            return RestoreSource(copy, schema: schema)
        }
        guard try PlatformCalls.status(of: real).kind != .folder else { throw OperationError.noSuchCopy(path) }
        // Before the work of a copy, for which something that was left out may be missing.
        try check(try await SourceStore(at: path, busyTimeout: options.busyTimeout).survey(.facts).omissions)
        let copy = try await PreparedCopy(of: path, options)
        let schema = try await schema(of: copy.copy.path)
        return RestoreSource(copy, schema: schema)
    }

    /// Keeps a copy, or a generation, from being pruned while it is read.
    private static func pin(_ folder: FilePath, _ patience: Patience) throws(OperationError) -> FolderLock? {
        do throws(OperationError) {
            return try FolderLock.take(.shared, on: folder, patience)
        } catch {
            // A copy on a medium that has no locks can be restored, and nobody prunes there.
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

    /// Everything that the store refers to, whether it came along or not: what came without may still be there.
    var references: Set<ExternalFileName> {
        Set(manifest.externalFiles.map(\.name) + manifest.missingExternalFiles)
            .union(manifest.omissions?.externalFiles.map(\.name) ?? [])
    }
}
