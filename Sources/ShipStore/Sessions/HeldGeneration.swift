import DeviceTrust
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage

/// A generation that stays while this lives: see `StoreServing.Lease`.
final class HeldGeneration: Sendable {
    let generation: Generation
    private let folder: OpenFolder
    private let lock: FolderLock

    /// - Returns: `nil` if the generation is gone, or is about to be removed.
    init?(_ generation: Generation, in inbox: InboxFolder) {
        guard let folder = try? inbox.folder(of: generation),
            let lock = try? FolderLock.takeSoon(.shared, on: generation.path, in: inbox.files),
            // Between the opening and the lock another process may have moved the folder away, to remove it.
            let identity = try? lock.file.status.identity, identity == (try? folder.status.identity),
            identity == (try? inbox.files.status(of: generation.path).identity)
        else { return nil }
        self.generation = generation
        self.folder = folder
        self.lock = lock
    }

    var manifest: Manifest { generation.manifest }

    /// The base that a one-way shipment names.
    ///
    /// - Parameter producer: The device that the base must be from, unless it was adopted; `nil` if its producer must not be known.
    /// - Throws: `.missingBase` if there is none, or it is about to be removed.
    static func base(
        _ base: Manifest.Base, of name: StoreName, from producer: ContentDigest?, in folder: InboxFolder
    ) throws(ShipmentError) -> HeldGeneration {
        let current = try? folder.currentName(of: name)
        let kept = ((try? folder.generationNames(of: name)) ?? []).reversed().filter { $0 != current }
        for candidate in [current].compactMap(\.self) + kept {
            guard let generation = try? folder.generation(candidate, of: name), generation.manifest.name == name,
                generation.manifest.store.sha256 == base.sha256,
                base.content.map({ $0 == ManifestContent(of: generation.manifest).id }) ?? true,
                (try? Origin.mayBeKnown(ofGenerationAt: generation.path, in: folder.files, to: producer)) == true,
                let held = HeldGeneration(generation, in: folder)
            else { continue }
            return held
        }
        throw .missingBase(name, base.sha256)
    }

    /// A path at which this process can read a part, as long as this lives: 0 is the store.
    func path(ofPart index: Int) -> FilePath {
        folder.pathByDescriptor.appending(Generation.relativePath(ofPart: index, of: manifest).components)
    }

    /// The manifest as its producer has signed it; `nil` if it came without a signature.
    func signedManifest() throws(InboxError) -> SignedManifest? { try generation.signedManifest(in: folder) }

    var digest: ContentDigest { manifest.store.sha256 }

    /// A path at which this process can open the store, as long as this lives.
    var storePath: FilePath { path(ofPart: 0) }

    /// The external file that a delta refers to.
    ///
    /// - Parameter name: The first bytes of its SHA-256.
    /// - Throws: `CompressionError.damaged(.base)` if there is none, or it cannot be opened.
    func file(named name: [UInt8]) throws(CompressionError) -> FileContent {
        guard let index = manifest.externalFiles.firstIndex(where: { $0.sha256.bytes.starts(with: name) }),
            let file = try? folder.file(
                at: folder.path.appending(Generation.relativePath(ofPart: index + 1, of: manifest).components)),
            let content = try? FileContent(of: file)
        else { throw .damaged(.base) }
        return content
    }
}

extension Manifest {
    /// Whether a delta of an external file has something to refer to.
    var hasFiles: Bool { externalFiles.contains { $0.size > 0 } }
}
