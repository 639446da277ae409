import EssentialFoundation
import ShipProtocol
import StoreSnapshot
import SystemPackage

/// A compact copy and its manifest. When it is dropped, the copy's folder is removed.
struct PreparedCopy: ~Copyable, Sendable {
    var manifest: Manifest
    let copy: CompactCopy
    /// How long it took to take the copy.
    let duration: Duration

    init(
        of source: SourceStore, named name: StoreName, _ options: CopyOptions, metadata: [String: String] = [:],
        turn: SnapshotTurn = .free
    ) async throws(SnapshotError) {
        let (createdAt, start) = (Timestamp(Date()), ContinuousClock.now)
        var source = source
        source.keptFree = options.hasRoom ? nil : options.keptFree
        source.earlierCopy = options.earlierCopy
        let copy = try await source.compactCopy(
            in: options.temporaryFolder, options.profile,
            allowsMissingExternalFiles: options.allowsMissingExternalFiles,
            inCanonicalForm: options.inCanonicalForm, marking: options.marking, takesDamaged: options.takesDamaged,
            turn: turn)
        manifest = try copy.manifest(
            name: name, createdAt: createdAt, software: Software.name, metadata: metadata.mapValues { ForeignText($0) })
        self.copy = copy
        duration = .now - start
    }

    /// Takes a copy under the name that the file's name suggests.
    init(of store: FilePath, _ options: CopyOptions) async throws(SnapshotError) {
        try await self.init(of: try SourceStore(at: store, options), named: StoreName(suggestedBy: store), options)
    }

    /// The file of part number `index`: 0 is the store.
    func path(ofPart index: Int) -> FilePath {
        index == 0 ? copy.path : copy.externalFiles[index - 1].path
    }
}

extension SourceStore {
    init(at path: FilePath, _ options: CopyOptions) throws(SnapshotError) {
        try self.init(at: path, busyTimeout: options.busyTimeout, takesSeveralNames: options.takesSeveralNames)
    }
}

extension StoreName {
    /// Suggested by the file's name as the user wrote it, and not by the name that a symbolic link leads to.
    init(suggestedBy path: FilePath) {
        self.init(suggestedBy: path.lastName)
    }
}
