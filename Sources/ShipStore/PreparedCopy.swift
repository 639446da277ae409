import EssentialFoundation
import ShipProtocol
import StoreSnapshot
import SystemPackage

/// A compact copy and the manifest that goes with it. When it is dropped, the copy's folder goes.
struct PreparedCopy: ~Copyable, Sendable {
    private(set) var manifest: Manifest
    let copy: CompactCopy
    /// How long it took.
    let duration: Duration

    init(
        of source: SourceStore, named name: StoreName, _ options: CopyOptions, metadata: [String: String] = [:],
        turn: SnapshotTurn = .free
    ) async throws(SnapshotError) {
        let (createdAt, start) = (Timestamp(Date()), ContinuousClock.now)
        var source = source
        source.keptFree = options.hasRoom ? nil : options.keptFree
        let copy = try await source.compactCopy(
            in: options.temporaryFolder, options.profile, missingExternalFiles: options.missingExternalFiles,
            form: options.form, marking: options.marking, turn: turn)
        manifest = try copy.manifest(
            name: name, createdAt: createdAt, software: Software.name, metadata: metadata.mapValues { ForeignText($0) })
        self.copy = copy
        duration = .now - start
    }

    /// A copy under the name that the file's name suggests.
    init(of store: FilePath, _ options: CopyOptions) async throws(SnapshotError) {
        try await self.init(
            of: try SourceStore(at: store, busyTimeout: options.busyTimeout), named: StoreName(suggestedBy: store),
            options)
    }

    /// Gives the shipment its number.
    mutating func count(_ counter: UInt64) { manifest = manifest.counted(counter) }

    /// A delta of it may refer to this.
    mutating func build(on base: ContentDigest) { manifest = manifest.over(base) }

    /// The file of part number `index`: 0 is the store.
    func path(ofPart index: Int) -> FilePath {
        index == 0 ? copy.path : copy.externalFiles[index - 1].path
    }
}

extension StoreName {
    /// What the name of the file suggests, as the user wrote it: behind a symbolic link there may be another one.
    init(suggestedBy path: FilePath) {
        self.init(suggestedBy: path.lastComponent?.string ?? "")
    }
}
