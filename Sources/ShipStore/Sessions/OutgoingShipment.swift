import ShipCompression
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreSnapshot
import Synchronization
import SystemPackage

/// A compact copy and its external files on their way out. When it is dropped, the copy goes.
final class OutgoingShipment: Sendable {
    /// How it is sent, as far as the user has a say.
    struct Manner: Sendable {
        var effort = Effort.auto
        /// The store goes in it, if it can, and the consumer takes it.
        var encoding = PartEncoding.columns
        var selfCheck = SelfCheck.on
        /// How many blocks are deflated at the same time.
        var cores = 1
        /// Without one, the store goes in blocks.
        var codec: ColumnsCodec?
        /// Bytes that working files leave free on the disk of the copy.
        var keptFree: Int64 = 0
    }

    let manifest: Manifest
    let manner: Manner
    /// What the entries of the store's indexes are made of; `nil` if the copy is not in canonical form, and cannot go by its
    /// rows.
    let indexShapes: [String: IndexShape]?
    /// What the live store was in when it was copied; `nil` where that could not be told.
    let state: StoreState?
    /// How long the copy took; `nil` where none was taken.
    let copyDuration: Duration?
    /// What is kept of it for another session.
    let record: (any OutgoingRecord)?
    /// What the consumer may hold, and the store be made of: as it is at the moment.
    private let currentBases: @Sendable () -> [OutgoingBase]
    /// Where its parts are.
    private let paths: [FilePath]
    /// Goes with this; `nil` for parts that somebody else keeps.
    private let copy: PreparedCopy?
    /// What keeps those parts for as long.
    let held: (any Sendable)?
    /// Of the bases that have been asked for, what the external files refer to, by the indexes of their parts.
    private let sources = Mutex<[ContentDigest: [Int: ExternalFile]]>([:])

    init(
        _ copy: consuming PreparedCopy, _ manner: Manner, keeping record: (any OutgoingRecord)? = nil,
        over bases: @escaping @Sendable () -> [OutgoingBase] = { [] }
    ) {
        manifest = copy.manifest
        self.manner = manner
        self.record = record
        currentBases = bases
        indexShapes =
            switch copy.copy.canonical {
            case .made(let shapes): shapes
            case .notMade, .impossible: nil
            }
        paths = manifest.parts.indices.map { copy.path(ofPart: $0) }
        state = copy.copy.state
        copyDuration = copy.duration
        held = nil
        self.copy = consume copy
    }

    /// Of files that nobody changes or removes while it is used.
    ///
    /// - Parameter held: What keeps them.
    init(
        _ manifest: Manifest, at paths: [FilePath], _ indexShapes: [String: IndexShape]?, _ manner: Manner,
        keeping record: (any OutgoingRecord)? = nil, holding held: (any Sendable)? = nil,
        over bases: @escaping @Sendable () -> [OutgoingBase] = { [] }
    ) {
        self.manifest = manifest
        self.held = held
        self.manner = manner
        self.record = record
        currentBases = bases
        self.indexShapes = indexShapes
        self.paths = paths
        (state, copyDuration) = (nil, nil)
        copy = nil
    }

    /// The file of part number `index`: 0 is the store.
    func path(ofPart index: Int) -> FilePath { paths[index] }

    /// Those of the external files.
    var externalPaths: [FilePath] { Array(paths.dropFirst()) }

    /// What is written beside the copy while it is checked what was encoded.
    var workingRoom: PromisedRoom {
        get throws(SnapshotError) {
            let folder = path(ofPart: 0).removingLastComponent()
            do throws(SpaceLedger.Refusal) {
                let promise = try SpaceLedger.ofProcess.promise(0, leaving: manner.keptFree, around: folder)
                return PromisedRoom(promise) { SnapshotError($0, in: folder) }
            } catch {
                throw SnapshotError(error, in: folder)
            }
        }
    }

    /// In what a part can go, best first.
    ///
    /// - Parameter wanted: In what the consumer takes it, as it likes them.
    func encodings(among wanted: WantedPart) -> [PartEncoding] { encodings(among: wanted, over: base(wanted.base)) }

    /// In what external files go best; what is remembered is looked at once for all of them.
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

    /// - Returns: `nil` for one that is not known here.
    func base(_ digest: ContentDigest?) -> OutgoingBase? {
        digest.flatMap { digest in bases.first { $0.digest == digest } }
    }

    /// What a delta of an external file refers to: the file that was in its place, to which nothing refers any more.
    ///
    /// - Returns: `nil` if there was none, or nobody remembers it.
    func source(ofPart index: Int, over base: OutgoingBase) -> ExternalFile? {
        sources.withLock { sources in
            if sources[base.digest] == nil { sources[base.digest] = allSources(over: base) }
            return sources[base.digest]?[index]
        }
    }

    /// A longer external file, in bytes, goes in blocks: its delta is made as a whole before any of it goes.
    private static let longestFileDelta: Int64 = 16 * 1024 * 1024

    private func allSources(over base: OutgoingBase) -> [Int: ExternalFile] {
        let names = Set(manifest.externalFiles.map(\.name))
        let gone = Dictionary(base.files.map { ($0.name, $0) }) { first, _ in first }.filter { !names.contains($0.key) }
        guard !gone.isEmpty, let store = base.open(),
            let successors = try? ExternalReferences.successors(
                of: Set(gone.keys), fromCopyAt: store.path, toCopyAt: path(ofPart: 0))
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
    /// What its manifest said.
    let content: ManifestContent
    /// Of the store.
    let digest: ContentDigest
    /// Looks whether it is whole still, and keeps it for as long as the value lives that it gives; `nil` if it is not.
    let open: @Sendable () -> (any Opened)?
    /// The external files that are remembered with it.
    var files: [ExternalFile] = []
    /// The same as `open`, of one of these.
    var openFile: @Sendable (ExternalFile) -> (any Opened)? = { _ in nil }

    /// One that is there, and stays.
    protocol Opened: AnyObject, Sendable {
        var path: FilePath { get }
    }
}
