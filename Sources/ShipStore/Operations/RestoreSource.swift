import FoundationEssentials
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreOperations
import StoreServing
import StoreSnapshot
import SystemPackage

/// The copy that a store is restored from, whole and sound: one of a folder with its manifest, or a compact copy of any
/// store, which then goes away with the owner of this.
struct RestoreSource: ~Copyable, Sendable {
    let manifest: Manifest
    /// A store in rollback mode that nobody changes.
    let store: FilePath
    /// In the order of the manifest.
    let files: [FileAtHand]
    private let copy: PreparedCopy?

    /// Takes over a copy of a store.
    init(_ copy: consuming PreparedCopy) {
        manifest = copy.manifest
        store = copy.copy.path
        files = copy.files
        self.copy = consume copy
    }

    private init(_ generation: Generation) {
        manifest = generation.manifest
        store = generation.storePath
        files = manifest.externalFiles.enumerated().map { index, file in
            FileAtHand(file, at: generation.path(ofPart: index + 1))
        }
        copy = nil
    }

    /// - Parameter path: The folder of a kept copy or of a generation, the store in it, or any other store.
    /// - Throws: `OperationError.noSuchCopy`, `.badCopy`, `.incompleteCopy`; what a check or a compact copy may throw.
    static func check(_ path: FilePath, _ options: CopyOptions) async throws -> RestoreSource {
        guard let real = try? PlatformCalls.realPath(of: path) else { throw OperationError.noSuchCopy(path) }
        if let folder = folder(of: real) {
            let generation = try generation(at: folder)
            // Both read the whole store: side by side they take half the time.
            async let soundness: Void = StoreCheck().run(
                on: generation.storePath, against: generation.manifest.store)
            do throws(InboxError) {
                try generation.compareWithManifest()
            } catch {
                throw OperationError.badCopy(error)
            }
            try await soundness
            return RestoreSource(generation)
        }
        guard try PlatformCalls.status(of: real).kind != .folder else { throw OperationError.noSuchCopy(path) }
        return RestoreSource(try await PreparedCopy(of: path, options))
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
