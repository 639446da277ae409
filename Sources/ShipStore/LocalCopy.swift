public import ShipProtocol
import StoreOperations
public import SystemPackage

/// A compact copy of a live store on the same device: `copy`.
public struct LocalCopy: Hashable, Sendable {
    /// Of the copy: `<basename>-<yyyyMMddTHHmmss>.sqlite`, in UTC.
    public let path: FilePath
    /// What a consumer would be told of it.
    public let manifest: Manifest

    /// Takes the copy, and puts it into `folder`, durably and in one step; the source is left alone.
    public static func take(
        of store: FilePath, into folder: FilePath, options: CopyOptions = CopyOptions()
    ) async throws(ShipmentError) -> LocalCopy {
        do {
            let prepared = try await PreparedCopy(of: store, options)
            let baseName = store.lastComponent?.stem ?? "store"
            let placement = CopyPlacement(in: folder, name: "\(baseName)-\(prepared.manifest.createdAt.compactText)")
            try placement.place(
                store: prepared.copy.path,
                externalFiles: prepared.copy.externalFiles.map { ($0.file.name, $0.path) })
            return LocalCopy(path: placement.storePath, manifest: prepared.manifest)
        } catch {
            throw ShipmentError(error)
        }
    }
}
