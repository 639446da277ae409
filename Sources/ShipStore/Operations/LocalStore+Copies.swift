import ShipProtocol
import StoreFiles
public import StoreOperations
import StoreSnapshot
import SystemPackage

extension LocalStore {
    /// Takes a compact copy, and keeps it beside others, durably and in one step; the store is left alone.
    public func keepCopy(
        in copies: KeptCopies, tags: [CopyTag] = [], metadata: [String: String] = [:]
    ) async throws(ShipmentError) -> KeptCopy {
        try await OperationRun.run(waiting: options.busyTimeout) { patience in
            let source = try SourceStore(at: path, busyTimeout: options.busyTimeout)
            return try await keepCopy(of: source, in: copies, tags: tags, metadata: metadata, patience)
        }
    }

    /// - Parameters:
    ///   - source: This store, through whatever connection it can be read.
    ///   - patience: While others change which copies there are.
    func keepCopy(
        of source: SourceStore, in copies: KeptCopies, tags: [CopyTag], metadata: [String: String] = [:],
        _ patience: Patience
    ) async throws -> KeptCopy {
        let metadata = metadata.merging(tags.map(\.pair)) { $1 }
        if let flaw = Metadata.firstFlaw(of: metadata.mapValues { ForeignText($0) }) {
            throw OperationError.badMetadata(flaw)
        }
        // In the folder itself, so that the copy need not be copied once more.
        try Folder.make(copies.folder)
        let room = try TemporaryFolder(in: copies.folder, .besideResults)
        let prepared = try await PreparedCopy(
            of: source, named: StoreName(suggestedBy: path), options.markingOmissions.making(in: room.path),
            metadata: metadata)
        return try copies.keep(
            prepared.manifest, store: prepared.copy.path, files: prepared.files,
            of: lastingPath, patience)
    }

    /// Where the store is, without symbolic links; of one in an inbox the name that stays while generations come and go.
    private var lastingPath: FilePath? {
        guard let home = try? StoreHome(resolving: path) else { return nil }
        guard case .inbox(let root, let name?)? = KeptPlace(of: home) else { return home.path }
        return root.appending("\(name).sqlite")
    }
}

extension CopyOptions {
    /// The same, for a copy that says itself what it comes without: nothing beside it goes with it wherever it goes.
    var markingOmissions: CopyOptions {
        var options = self
        options.marking = .written
        return options
    }

    /// The same, but in another temporary folder.
    func making(in folder: FilePath) -> CopyOptions {
        var options = self
        options.temporaryFolder = folder
        return options
    }
}

extension PreparedCopy {
    /// Its external files, in the order of the manifest.
    var files: [FileAtHand] { copy.externalFiles.map { FileAtHand($0.file, at: $0.path) } }
}
