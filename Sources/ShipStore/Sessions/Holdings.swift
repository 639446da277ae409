import DeviceTrust
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage

/// What is held of the stores that a producer may know of, as it is told when it is greeted: what its shipments may refer to.
///
/// What another device has sent is not among it: by whether a delta fits, nobody shall find out what is in another's store.
struct Holdings: Sendable {
    /// As HELLO says it.
    private(set) var stores: [Hello.HeldStore] = []
    /// What manifests may refer to.
    private(set) var contents = HeldContents()
    private var generations: [ManifestContent.ID: Generation] = [:]
    private var current: [StoreName: ManifestContent.ID] = [:]

    /// Nothing: for those whom nobody greets.
    init() {}

    /// - Parameters:
    ///   - mayKnow: Whether the producer may send a store.
    ///   - device: The producer; `nil` if it has not said who it is.
    /// - Throws: `.noInbox`, `.file`. A generation that cannot be read is not held.
    init(
        in folder: InboxFolder, of mayKnow: (StoreName) -> Bool, from device: DeviceIdentifier?
    ) throws(InboxError) {
        let producer = device.map { ContentDigest(sha256: $0.bytes) }
        for name in try folder.storeNames() where mayKnow(name) {
            let now = folder.currentName(of: name)
            if let now, let id = hold(now, of: name, in: folder, from: producer) { current[name] = id }
            let others = ((try? folder.generationNames(of: name)) ?? []).reversed().filter { $0 != now }
            let kept = others.prefix(Limits.keptGenerations).compactMap {
                hold($0, of: name, in: folder, from: producer)
            }
            let unfinished = waiting(of: name, in: folder, from: producer)
            guard current[name] != nil || !kept.isEmpty || unfinished != nil else { continue }
            stores.append(
                Hello.HeldStore(
                    name: name, manifest: current[name], kept: kept.map(\.start), unfinished: unfinished?.start))
            if stores.count == Limits.heldStores { break }
        }
    }

    /// - Returns: How the shipment is named that broke off; `nil` if none of this producer's did.
    private mutating func waiting(
        of name: StoreName, in folder: InboxFolder, from producer: ContentDigest?
    ) -> ManifestContent.ID? {
        guard let found = WaitingShipments(in: folder).all(of: name).first(where: { $0.record.producer == producer })
        else { return nil }
        let content = ManifestContent(of: found.manifest)
        _ = contents.hold(content)
        return content.id
    }

    /// - Returns: How it is named; `nil` if it is not held for this producer.
    private mutating func hold(
        _ name: GenerationName, of store: StoreName, in folder: InboxFolder, from producer: ContentDigest?
    ) -> ManifestContent.ID? {
        guard let generation = try? folder.generation(name, of: store),
            (try? Origin.of(generation, in: folder, is: producer)) == true,
            // One whose store is gone is of no use to anybody.
            let status = try? folder.files.status(of: generation.storePath), status.kind == .file,
            status.size == generation.manifest.store.size
        else { return nil }
        let content = ManifestContent(of: generation.manifest)
        guard generations[content.id] == nil, contents.hold(content) else { return nil }
        generations[content.id] = generation
        return content.id
    }

    /// This is current from here on, and what the producer has sent last.
    mutating func add(_ generation: Generation) {
        let content = ManifestContent(of: generation.manifest)
        generations[content.id] = generation
        current[generation.manifest.name] = content.id
    }

    /// What a shipment's store may come as a delta against.
    ///
    /// - Parameter reference: What its manifest refers to: of that, the producer is likely to have the store. Else it is what is
    ///   current.
    /// - Parameter earlier: What an earlier session has brought of the store's stream: what that refers to comes before all else.
    /// - Returns: `nil` if there is nothing, or it has gone meanwhile.
    func base(
        for manifest: Manifest, referringTo reference: ManifestContent.ID?, asIn earlier: PartStream.Header?,
        in folder: InboxFolder
    ) -> HeldGeneration? {
        let before = earlier?.base.flatMap { base in
            generations.values.first { $0.manifest.name == manifest.name && $0.manifest.store.sha256 == base }
        }
        guard
            let generation = before
                ?? [reference, current[manifest.name]].lazy.compactMap({ $0 }).compactMap({ generations[$0] }).first,
            generation.manifest.name == manifest.name
        else { return nil }
        return HeldGeneration(generation, in: folder)
    }
}

extension Origin {
    /// Whether a generation is from a producer, or, where that is `nil`, nobody knows from which.
    ///
    /// - Throws: `.badOrigin`, `.file`.
    static func of(
        _ generation: Generation, in folder: InboxFolder, is producer: ContentDigest?
    ) throws(InboxError) -> Bool {
        try read(ofGenerationAt: generation.path, in: folder.files)?.producer == producer
    }
}

/// A generation that stays while this lives: see `StoreServing.Lease`.
final class HeldGeneration: Sendable {
    private let manifest: Manifest
    private let folder: OpenFolder
    private let lock: FolderLock

    /// - Returns: `nil` if it is gone, or somebody is about to remove it.
    init?(_ generation: Generation, in inbox: InboxFolder) {
        guard let folder = try? inbox.folder(of: generation),
            let lock = try? FolderLock.take(.shared, on: generation.path, in: inbox.files),
            // Between the opening and the lock somebody may have moved it away, to remove it.
            let identity = try? lock.file.status.identity, identity == (try? folder.status.identity),
            identity == (try? inbox.files.status(of: generation.path).identity)
        else { return nil }
        manifest = generation.manifest
        self.folder = folder
        self.lock = lock
    }

    /// What a shipment refers to that nobody answers.
    ///
    /// - Parameters:
    ///   - digest: Of its store.
    ///   - name: Of the store.
    ///   - producer: The device that it has to be from; `nil` for one of which no device is known.
    /// - Throws: `.missingBase` if there is none, or somebody is about to remove it.
    static func base(
        _ digest: ContentDigest, of name: StoreName, from producer: ContentDigest?, in folder: InboxFolder
    ) throws(ShipmentError) -> HeldGeneration {
        let current = folder.currentName(of: name)
        let kept = ((try? folder.generationNames(of: name)) ?? []).reversed().filter { $0 != current }
        for candidate in [current].compactMap(\.self) + kept {
            guard let generation = try? folder.generation(candidate, of: name), generation.manifest.name == name,
                generation.manifest.store.sha256 == digest,
                (try? Origin.of(generation, in: folder, is: producer)) == true,
                let held = HeldGeneration(generation, in: folder)
            else { continue }
            return held
        }
        throw .missingBase(name, digest)
    }

    /// Of its store.
    var digest: ContentDigest { manifest.store.sha256 }

    /// For what opens it in this process, for as long as this lives.
    var storePath: FilePath { folder.pathByDescriptor.appending(InboxLayout.storeFile(manifest.name)) }

    /// Whether there are external files.
    var hasFiles: Bool { manifest.externalFiles.contains { $0.size > 0 } }

    /// What a delta of an external file refers to.
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
