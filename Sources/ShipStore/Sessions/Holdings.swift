import DeviceTrust
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage

/// The generations that a producer is told of in the greeting, and that its shipments may refer to.
///
/// Only generations that the producer has sent itself are among them, and what the operator has adopted: otherwise it could find out, by
/// whether a delta fits, what another device's store contains.
struct Holdings: Sendable {
    /// The stores as HELLO lists them.
    private(set) var stores: [Hello.HeldStore] = []
    /// The contents that manifests may refer to.
    private(set) var contents = HeldContents()
    private var generations: [ManifestContent.ID: Generation] = [:]
    private var current: [StoreName: ManifestContent.ID] = [:]
    /// Of each store the last one that this session has installed, unless the greeting names it.
    private var installed: [StoreName: ManifestContent.ID] = [:]
    /// Bytes of manifests that a greeting may still read: most of what it reads must fit into `Limits.heldContents`.
    private var bytesToRead = 4 * Int64(Limits.heldContents)

    /// Nothing: for a producer that is not greeted.
    init() {}

    /// - Parameters:
    ///   - mayKnow: Whether the producer may send a store of this name.
    ///   - device: The producer; `nil` if it is not known.
    /// - Throws: `.noInbox`, `.file`. A generation that cannot be read is not held.
    init(in folder: InboxFolder, of mayKnow: (StoreName) -> Bool, from device: DeviceIdentifier?) throws(InboxError) {
        let producer = device.map { ContentDigest(sha256: $0.bytes) }
        for name in try folder.storeNames() where mayKnow(name) {
            let now = try folder.currentName(of: name)
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

    /// - Returns: The content of the producer's shipment that broke off; `nil` if there is none.
    private mutating func waiting(
        of name: StoreName, in folder: InboxFolder, from producer: ContentDigest?
    ) -> ManifestContent.ID? {
        guard let found = folder.waitingShipments(of: name).first(where: { $0.record.producer == producer })
        else { return nil }
        let content = ManifestContent(of: found.manifest)
        _ = contents.hold(content)
        return content.id
    }

    /// - Returns: The content of a generation; `nil` if it is not the producer's, nor adopted.
    private mutating func hold(
        _ name: GenerationName, of store: StoreName, in folder: InboxFolder, from producer: ContentDigest?
    ) -> ManifestContent.ID? {
        // Whose it is costs little to find out, and what others have sent costs the producer nothing else.
        let path = folder.layout.generations(store).appending(name.text)
        guard (try? Origin.mayBeKnown(ofGenerationAt: path, in: folder.files, to: producer)) == true,
            let size = try? folder.files.status(of: path.appending(InboxLayout.manifestFile)).size,
            bytesToRead >= size
        else { return nil }
        bytesToRead -= size
        guard let generation = try? folder.generation(name, of: store),
            // The file of its store may be gone, or cut.
            let status = try? folder.files.status(of: generation.storePath), status.kind == .file,
            status.size == generation.manifest.store.size
        else { return nil }
        let content = ManifestContent(of: generation.manifest)
        guard generations[content.id] == nil, contents.hold(content) else { return nil }
        generations[content.id] = generation
        return content.id
    }

    /// The producer has sent this generation, and it is current from here on.
    mutating func add(_ generation: Generation) {
        let (id, name) = (ManifestContent(of: generation.manifest).id, generation.manifest.name)
        // A session that stays installs without end; nothing refers to what was current before.
        if let last = installed.removeValue(forKey: name) { generations[last] = nil }
        if generations.updateValue(generation, forKey: id) == nil { installed[name] = id }
        current[name] = id
    }

    /// The generation that deltas of a shipment may refer to.
    ///
    /// - Parameters:
    ///   - reference: The content that the manifest refers to: the producer most likely remembers its store. Without one, the current
    ///     generation is the base.
    ///   - earlier: The stream that an earlier session has begun: its base comes before all others.
    /// - Parameter isWhole: Asked of a generation with the content that is to come: that comes again because it is damaged.
    /// - Returns: `nil` if there is none, or it has been removed meanwhile.
    func base(
        for manifest: Manifest, referringTo reference: ManifestContent.ID?, asIn earlier: PartStream.Header?,
        in folder: InboxFolder, ifWhole isWhole: (Generation) -> Bool
    ) -> HeldGeneration? {
        let before = earlier?.base.flatMap { base in
            let fitting = generations.values.filter {
                $0.manifest.name == manifest.name && $0.manifest.store.sha256 == base
            }
            // Several may have the same store; the earlier stream may be a delta of an external file, and need one with files.
            return fitting.first { $0.manifest.hasFiles } ?? fitting.first
        }
        guard
            let generation = before
                ?? [reference, current[manifest.name]].lazy.compactMap({ $0 }).compactMap({ generations[$0] }).first,
            generation.manifest.name == manifest.name,
            !generation.manifest.hasSameContent(as: manifest) || isWhole(generation)
        else { return nil }
        return HeldGeneration(generation, in: folder)
    }
}
