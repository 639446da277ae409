import ShipProtocol
import SystemPackage

/// A store that the consumer may hold, as this side remembers it.
struct OutgoingBase: Sendable {
    /// A file, and what keeps it there for as long as it lives.
    typealias Opened = (path: FilePath, keeper: any Sendable)

    let content: ManifestContent
    /// The SHA-256 of the store.
    let digest: ContentDigest
    /// The content of its tables, where it is known.
    var tables: [ForeignText: TableContent]?
    /// Compares the store with its digest, and keeps it; `nil` if it is damaged, or gone.
    let open: @Sendable () -> Opened?
    /// The external files that are remembered with it.
    var files: [ExternalFile] = []
    /// Does the same as `open` with one of these files.
    var openFile: @Sendable (ExternalFile) -> Opened? = { _ in nil }
}
