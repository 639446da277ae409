import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox
import StoreServing
import StoreSnapshot
import SystemPackage

/// A store as an inbox holds it. Its current generation is shipped as it is, with the number and the signature of the device that made it.
struct HeldStore: Sendable {
    let inbox: Inbox
    let name: StoreName

    /// How often, and how long, to try again to hold a generation that is being removed, or looked at for that; and how often where it has no
    /// signature: steps of a publication have none that lead to one that has.
    private static let (attempts, attemptsUnsigned) = (400, 100)
    private static let pause = Duration.milliseconds(5)

    /// The traces that tell, without opening anything, which generation is current.
    var traces: StoreTraces {
        StoreTraces(ofUnchanging: (try? PlatformCalls.realPath(of: current)) ?? current)
    }

    /// Leads elsewhere when another generation becomes current.
    var current: FilePath { inbox.layout.current(name) }

    /// Which generation is current; `nil` if there is none.
    var state: StoreState? {
        (try? inbox.open().currentName(of: name)).flatMap(\.self).map { StoreState(ofGeneration: $0.text) }
    }

    /// The generation that is current, which stays as long as the version lives.
    ///
    /// - Throws: `.noSuchStore`, `.badManifest`, `.generationLocked`, `.notSigned`.
    func version(
        workingIn parent: FilePath, isShared: Bool = false, gone: @escaping @Sendable () -> Void = {}
    ) throws -> StoreVersion {
        let (left, state) = (traces, state)
        let (signed, held) = try currentGeneration()
        let parts = HeldParts(held, try TemporaryFolder(in: parent))
        return StoreVersion(
            signed.manifest, at: signed.manifest.parts.indices.map(held.path),
            try? IndexShape.all(inCopyAt: held.storePath), signed: signed, workingIn: parts.folder.path, state: state,
            leaving: left, isShared: isShared, keptBy: parts, gone: gone)
    }

    private func currentGeneration() throws -> (SignedManifest, HeldGeneration) {
        let folder = try inbox.open()
        for attempt in 1...Self.attempts {
            guard let generation = try folder.current(of: name) else { throw folder.noSuchStore(name) }
            if let held = HeldGeneration(generation, in: folder) {
                if let signed = try held.signedManifest() { return (signed, held) }
                guard attempt < Self.attemptsUnsigned else {
                    throw ShipmentError.notSigned(name, generation: generation.number)
                }
            }
            PlatformCalls.pause(Self.pause)
        }
        throw CoordinatorError.generationLocked(name)
    }

    /// The generations that deltas may refer to: those that are kept.
    var bases: [OutgoingBase] {
        guard let folder = try? inbox.open() else { return [] }
        let names = (try? folder.generationNames(of: name)) ?? []
        return names.reversed().compactMap { try? folder.generation($0, of: name) }.map { generation in
            OutgoingBase(
                content: ManifestContent(of: generation.manifest), digest: generation.manifest.store.sha256,
                open: { Self.open(0, of: generation, in: folder) },
                files: generation.manifest.externalFiles,
                openFile: { file in
                    let index = generation.manifest.externalFiles.firstIndex(of: file)
                    return index.flatMap { Self.open($0 + 1, of: generation, in: folder) }
                })
        }
    }

    /// - Returns: `nil` if the part is damaged, or gone.
    private static func open(_ part: Int, of generation: Generation, in folder: InboxFolder) -> OutgoingBase.Opened? {
        guard let held = HeldGeneration(generation, in: folder) else { return nil }
        let path = held.path(ofPart: part)
        guard (try? ContentDigest(ofFile: path)) == generation.manifest.parts[part].sha256 else { return nil }
        return (path, held)
    }
}

/// The parts that a version of a held store needs as long as it lives.
private final class HeldParts: Sendable {
    private let generation: HeldGeneration
    /// For working files: nothing is put into the folder of a generation.
    let folder: TemporaryFolder

    init(_ generation: HeldGeneration, _ folder: consuming TemporaryFolder) {
        self.generation = generation
        self.folder = folder
    }
}
