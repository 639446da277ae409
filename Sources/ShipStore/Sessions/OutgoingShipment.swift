import ShipCompression
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreFormat
import StoreSnapshot
import Synchronization
import SystemPackage

/// One version of a store on its way to one receiver: what that receiver may hold already, and what is recorded for another session.
final class OutgoingShipment: Sendable {
    let version: StoreVersion
    /// How long the copy took; `nil` if none was taken for this receiver.
    let copyDuration: Duration?
    /// How it is encoded.
    let options: Producer.Options
    /// The record for another session.
    let record: SendingRecord?
    /// The parts that come in one-way mode.
    let oneWay: Answer
    /// Copies that the consumer may hold, and that a delta can refer to, as they are remembered at the moment.
    private let currentBases: @Sendable () -> [OutgoingBase]
    /// The bases of the external files' deltas, by the indexes of the parts, for each base that has been asked for.
    private let sources = Mutex<[ContentDigest: [Int: ExternalFile]]>([:])

    init(
        _ version: StoreVersion, copiedIn duration: Duration? = nil, _ options: Producer.Options,
        keeping record: SendingRecord? = nil, oneWay: Answer = .everything,
        over bases: @escaping @Sendable () -> [OutgoingBase] = { [] }
    ) {
        self.version = version
        copyDuration = duration
        self.options = options
        (self.record, self.oneWay) = (record, oneWay)
        currentBases = bases
    }

    var manifest: Manifest { version.manifest }

    func path(ofPart index: Int) -> FilePath { version.path(ofPart: index) }

    /// Counts what a self-check writes beside the copy.
    var workingRoom: GrowingReservation {
        get throws(SnapshotError) {
            let folder = version.workingFolder
            let reservation = try DiskReservation.make(0, in: folder, leaving: options.copy.keptFree)
            return GrowingReservation(reservation) { SnapshotError($0, in: folder) }
        }
    }

    /// The smallest store for which a difference is looked for, in bytes.
    private static let leastSearched: Int64 = 32 * 1024

    /// Finds what the store has in common with one that only the consumer has.
    ///
    /// - Parameter ask: Asks the consumer, and returns its answer.
    /// - Returns: `nil` if the whole store is as good.
    /// - Throws: What `ask` throws; `CancellationError`.
    func search(asking ask: ([UInt8]) async throws -> [UInt8]) async throws -> SharedRows? {
        guard options.encoding == .columns, let shapes = version.indexShapes,
            manifest.store.size >= Self.leastSearched
        else { return nil }
        do {
            let pages = try PageFile(reading: path(ofPart: 0)) { try Task.checkCancellation() }
            let search = try RangeSearch(pages, shapes: shapes, nonce: RangeAnswers.makeNonce())
            var request: [UInt8]? = search.begin()
            while let next = request { request = try search.next(after: try await ask(next)) }
            return search.shared
        } catch is CompressionError, is StoreFlaw {
            // What a consumer says wrong of its base keeps nothing from going whole.
            return nil
        }
    }

    /// The encodings in which a part can go, the best first.
    func encodings(among wanted: WantedPart) -> [PartEncoding] { encodings(among: wanted, over: base(wanted.base)) }

    /// The best encoding of each external file; the memory is read once for all of them.
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
