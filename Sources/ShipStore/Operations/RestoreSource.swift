import FoundationEssentials
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
    private let copy: PreparedCopy?
    /// What keeps the copy's folder from being pruned; `nil` where none is read, or where there are no locks.
    private let hold: FolderLock?

    /// Takes over a copy of a store.
    init(_ copy: consuming PreparedCopy) {
        manifest = copy.manifest
        store = copy.copy.path
        files = copy.files
        proof = .given
        hold = nil
        self.copy = consume copy
    }

    private init(_ generation: Generation, _ hold: consuming FolderLock?) {
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

    /// - Parameter path: The folder of a kept copy or of a generation, the store in it, or any other store.
    /// - Throws: `OperationError.noSuchCopy`, `.badCopy`, `.incompleteCopy`, `.folderBusy`, `.stopped`; what a compact copy may
    ///   throw.
    static func find(_ path: FilePath, _ options: CopyOptions, _ patience: Patience) async throws -> RestoreSource {
        guard let real = try? PlatformCalls.realPath(of: path) else { throw OperationError.noSuchCopy(path) }
        if let folder = folder(of: real) {
            let hold = try pin(folder, patience)
            // It may have been pruned while somebody waited.
            guard (try? PlatformCalls.status(of: folder)) != nil else { throw OperationError.noSuchCopy(path) }
            return RestoreSource(try generation(at: folder), hold)
        }
        guard try PlatformCalls.status(of: real).kind != .folder else { throw OperationError.noSuchCopy(path) }
        return RestoreSource(try await PreparedCopy(of: path, options))
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
        let generation: Generation
        do throws(InboxError) {
            generation = try Generation(at: folder)
        } catch {
            throw .badCopy(error)
        }
        guard generation.manifest.omissions == nil else { throw .incompleteCopy(folder) }
        return generation
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

    /// Everything that the store refers to, whether it came along or not.
    var references: Set<ExternalFileName> {
        Set(manifest.externalFiles.map(\.name) + manifest.missingExternalFiles)
    }
}
