public import ShipProtocol
public import StoreBases
import StoreFiles
import StoreSnapshot
public import SystemPackage

extension BaseMemory {
    /// Adds a copy that receivers of a store have from elsewhere, as from an app's bundle: what is sent to them can build on it. It stays
    /// until it is removed.
    ///
    /// - Parameters:
    ///   - copy: What `ship-store copy STORE --as NAME.base.sqlite` has made; it is copied.
    ///   - store: The live store.
    ///   - name: Under which the store is sent; `nil` for what the name of its file suggests.
    /// - Throws: `.operation(.notCanonical)` for a file that is no such copy, `.memory(.noRoom)`, `.source`.
    public func add(
        _ copy: FilePath, of store: FilePath, named name: StoreName? = nil
    ) async throws(ShipmentError) -> BaseRecord {
        try await LocalStore.run(waiting: .zero) { [self] _ in
            let source = try SourceStore(at: store)
            let bases = RememberedBases(
                in: self, of: source.path, named: name ?? StoreName(suggestedBy: store), CopyProfile())
            var options = CopyOptions()
            if let size = try? PlatformCalls.status(of: copy).size, let folder = workingFolder(for: size) {
                options.temporaryFolder = folder
            }
            let prepared = try await PreparedCopy.ofBundle(at: copy, named: bases.key.name, options)
            switch bases.acknowledged(
                prepared.manifest, copy: prepared.path(ofPart: 0), files: prepared.files.map(\.path),
                by: BaseKey.everyReceiver)
            {
            case .remembered: break
            case .failed(let error): throw error
            case .tooLarge, .noRoom, .tooLong, .otherFile: throw BaseMemoryError.noRoom(folder)
            }
            let records = try records()
            guard let added = records.first(where: { $0.isPinned && $0.sha256 == prepared.manifest.store.sha256 })
            else { throw BaseMemoryError.noRoom(folder) }
            return added
        }
    }
}
