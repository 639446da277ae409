import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreFormat
import StoreSnapshot
import Synchronization
import SystemPackage

/// A compact copy and its external files on their way out. When the last reference is dropped, the copy is removed.
final class OutgoingShipment: Sendable {
    let manifest: Manifest
    /// How it is encoded.
    let options: Producer.Options
    /// The columns of the entries of the store's indexes, by the names of the indexes; `nil` if the copy is not in canonical form: then
    /// the store cannot go by its rows.
    let indexShapes: [String: IndexShape]?
    /// The state of the live store when it was copied; `nil` if that could not be told.
    let state: StoreState?
    /// How long the copy took; `nil` if none was taken.
    let copyDuration: Duration?
    /// What is recorded for another session.
    let record: (any OutgoingRecord)?
    /// Copies that the consumer may hold, and that a delta can refer to, as they are remembered at the moment.
    private let currentBases: @Sendable () -> [OutgoingBase]
    /// The files of the parts.
    private let paths: [FilePath]
    /// Removed with this; `nil` for parts that somebody else keeps.
    private let copy: PreparedCopy?
    /// Keeps those parts.
    private let keeper: (any Sendable)?
    /// What deltas of the external files refer to, by the indexes of the parts, for each base that has been asked for.
    private let sources = Mutex<[ContentDigest: [Int: ExternalFile]]>([:])

    init(
        _ copy: consuming PreparedCopy, _ options: Producer.Options, keeping record: (any OutgoingRecord)? = nil,
        over bases: @escaping @Sendable () -> [OutgoingBase] = { [] }
    ) {
        manifest = copy.manifest
        self.options = options
        self.record = record
        currentBases = bases
        indexShapes = try? copy.copy.canonical?.get()
        paths = manifest.parts.indices.map { copy.path(ofPart: $0) }
        state = copy.copy.state
        copyDuration = copy.duration
        keeper = nil
        self.copy = consume copy
    }

    /// A shipment of files that do not change or go while it is used.
    ///
    /// - Parameter keeper: Keeps them.
    init(
        _ manifest: Manifest, at paths: [FilePath], _ indexShapes: [String: IndexShape]?, _ options: Producer.Options,
        keeping record: (any OutgoingRecord)? = nil, keptBy keeper: (any Sendable)? = nil,
        over bases: @escaping @Sendable () -> [OutgoingBase] = { [] }
    ) {
        self.manifest = manifest
        self.keeper = keeper
        self.options = options
        self.record = record
        currentBases = bases
        self.indexShapes = indexShapes
        self.paths = paths
        (state, copyDuration) = (nil, nil)
        copy = nil
    }

    /// The file of part number `index`: 0 is the store.
    func path(ofPart index: Int) -> FilePath { paths[index] }

    /// The files of the external files, in the order of the manifest.
    var externalPaths: [FilePath] { Array(paths.dropFirst()) }

    /// Counts what a self-check writes beside the copy.
    ///
    /// - Throws: `.noSpace`, `.file`.
    var workingRoom: GrowingReservation {
        get throws(SnapshotError) {
            let folder = path(ofPart: 0).removingLastComponent()
            do throws(DiskReservation.Refusal) {
                let reservation = try SpaceLedger.ofProcess.reserve(0, leaving: options.copy.keptFree, around: folder)
                return GrowingReservation(reservation) { SnapshotError($0, in: folder) }
            } catch {
                throw SnapshotError(error, in: folder)
            }
        }
    }

    /// The encodings in which a part can go, the best first.
    ///
    /// - Parameter wanted: Has the encodings that the consumer takes, in its order.
    func encodings(among wanted: WantedPart) -> [PartEncoding] { encodings(among: wanted, over: base(wanted.base)) }

    /// The best encoding of each external file; the memory is read once for all of them.
    ///
    /// - Throws: `CancellationError`.
    func encodings(ofFiles wanted: [WantedPart]) throws -> [PartEncoding?] {
        let known = wanted.contains { $0.base != nil } ? bases : []
        return try wanted.map { file in
            try Task.checkCancellation()
            return encodings(among: file, over: file.base.flatMap { digest in known.first { $0.digest == digest } })
                .first
        }
    }

    private func encodings(among wanted: WantedPart, over base: OutgoingBase?) -> [PartEncoding] {
        wanted.encodings.filter { $0.isPossible(for: wanted.index, of: self, over: base) }
    }

    var bases: [OutgoingBase] { currentBases() }

    /// - Returns: `nil` for a base that this side does not remember.
    func base(_ digest: ContentDigest?) -> OutgoingBase? {
        digest.flatMap { digest in bases.first { $0.digest == digest } }
    }

    /// The file of the base that a delta of an external file refers to: it was in the place of the new one, and the store does not refer
    /// to it any more.
    ///
    /// - Returns: `nil` if there was none, or it is not remembered.
    func source(ofPart index: Int, over base: OutgoingBase) -> ExternalFile? {
        sources.withLock { sources in
            if sources[base.digest] == nil { sources[base.digest] = allSources(over: base) }
            return sources[base.digest]?[index]
        }
    }

    /// A longer external file, in bytes, goes in blocks: all of a delta is encoded before any of it goes.
    private static let longestFileDelta: Int64 = 16 * 1024 * 1024

    private func allSources(over base: OutgoingBase) -> [Int: ExternalFile] {
        let names = Set(manifest.externalFiles.map(\.name))
        let gone = Dictionary(base.files.map { ($0.name, $0) }) { first, _ in first }.filter { !names.contains($0.key) }
        guard !gone.isEmpty, let store = base.open(),
            let successors = try? withExtendedLifetime(
                store,
                {
                    try ExternalFileReference.successors(
                        of: Set(gone.keys), fromCopyAt: $0.path, toCopyAt: path(ofPart: 0))
                })
        else { return [:] }
        var found: [Int: ExternalFile] = [:]
        for (index, file) in manifest.externalFiles.enumerated() where file.size <= Self.longestFileDelta {
            found[index + 1] = successors[file.name].flatMap { gone[$0] }
        }
        return found
    }
}

/// A store that the consumer may hold, as this side remembers it.
struct OutgoingBase: Sendable {
    /// A file, and what keeps it there for as long as it lives.
    typealias Opened = (path: FilePath, keeper: any Sendable)

    /// The content of its manifest.
    let content: ManifestContent
    /// The SHA-256 of the store.
    let digest: ContentDigest
    /// Compares the store with its digest, and keeps it; `nil` if it is damaged, or gone.
    let open: @Sendable () -> Opened?
    /// The external files that are remembered with it.
    var files: [ExternalFile] = []
    /// Does the same as `open` with one of these files.
    var openFile: @Sendable (ExternalFile) -> Opened? = { _ in nil }
}
