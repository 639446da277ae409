import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

extension PreparedCopy {
    /// Reads a file that is itself a copy as it is shipped: a first generation in an app's bundle, or the same file at the sender. Of one
    /// file both sides make the same `ManifestContent`, so that one can refer to what the other has.
    ///
    /// A copy of it is taken, which must have the same bytes. That proves that it is in canonical form, and that SQLite finds it sound.
    ///
    /// - Throws: `OperationError.notCanonical`; what a copy may throw.
    static func ofBundle(
        at path: FilePath, named name: StoreName, _ options: CopyOptions
    ) async throws -> PreparedCopy {
        var options = options
        // Another name of it may have a log or a journal; then it is not what the copy of it is.
        options.takesSeveralNames = true
        let copy = try await PreparedCopy(of: try SourceStore(at: path, options), named: name, options)
        let digest = try ContentDigest(ofFile: path) { Task.isCancelled }
        guard digest == copy.manifest.store.sha256 else { throw OperationError.notCanonical(path) }
        return copy
    }
}
