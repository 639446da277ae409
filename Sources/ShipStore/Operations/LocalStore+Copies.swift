import EssentialFoundation
public import ShipProtocol
import StoreFiles
public import StoreOperations
import StoreSnapshot
import SystemPackage

extension LocalStore {
    /// Takes a compact copy, and keeps it beside others, durably and in one step; the store is left alone.
    public func keepCopy(
        in copies: KeptCopies, tags: [CopyTag] = [], metadata: [String: String] = [:]
    ) async throws(ShipmentError) -> KeptCopy {
        try await LocalStore.run(waiting: options.busyTimeout) { busyHandler in
            let source = try SourceStore(at: path, options)
            return try await keepCopy(of: source, in: copies, tags: tags, metadata: metadata, busyHandler)
        }
    }

    /// - Parameters:
    ///   - source: This store, through whatever connection it can be read.
    ///   - attributes: Of the store, whose users are to have the use of the copy; `nil` for this user alone.
    func keepCopy(
        of source: SourceStore, in copies: KeptCopies, tags: [CopyTag], metadata: [String: String] = [:],
        for attributes: FileAttributes? = nil, _ busyHandler: BusyHandler
    ) async throws -> KeptCopy {
        let metadata = metadata.merging(tags.map(\.pair)) { $1 }
        if let flaw = Manifest.firstFlaw(ofMetadata: metadata.mapValues { ForeignText($0) }) {
            throw OperationError.badMetadata(flaw)
        }
        try KeptPlace.refuseToFill(copies.folder)
        // In the folder itself, so that the copy is written once.
        let temporary = try TemporaryFolder(making: copies.folder, with: attributes?.ofFolder)
        let prepared = try await PreparedCopy(
            of: source, named: StoreName(suggestedBy: path), options.markingOmissions.making(in: temporary.path),
            metadata: metadata)
        return try copies.keep(
            prepared.manifest, store: prepared.copy.path, files: prepared.files,
            of: Self.lastingPath(of: source.path), damage: prepared.copy.damage, for: attributes, busyHandler)
    }

    /// The path of a store; in an inbox that of the link that leads to the current generation.
    private static func lastingPath(of store: FilePath) -> FilePath {
        guard case .inbox(let root, let name?)? = KeptPlace(of: StoreHome(store)) else { return store }
        return root.appending("\(name).sqlite")
    }
}

extension CopyOptions {
    /// The same options, for a copy that is marked with what it lacks: no manifest stays beside it.
    var markingOmissions: CopyOptions {
        var options = self
        options.marking = .written
        return options
    }

    /// The same options, with another temporary folder.
    func making(in folder: FilePath) -> CopyOptions {
        var options = self
        options.temporaryFolder = folder
        return options
    }
}

extension PreparedCopy {
    /// Its external files, in the order of the manifest.
    var files: [(file: ExternalFile, path: FilePath)] { copy.externalFiles }
}

extension KeptCopies {
    /// Removes copies that the retention does not keep. Other programs may keep copies in the folder, prune it and restore
    /// from it meanwhile: a copy that is being read stays until the next pruning.
    ///
    /// - Throws: `.operation(.folderBusy)`, `.operation(.file)`.
    public func prune(
        _ retention: CopyRetention = CopyRetention(), of name: StoreName? = nil,
        dryRun: Bool = false, busyTimeout: Duration = .seconds(10)
    ) async throws(ShipmentError) -> CopyPruning {
        try await LocalStore.run(waiting: busyTimeout) { busyHandler in
            let (findings, left) = try prune(retention, of: name, dryRun: dryRun, at: Timestamp(Date()), busyHandler)
            return CopyPruning(findings: findings, left: left)
        }
    }
}
