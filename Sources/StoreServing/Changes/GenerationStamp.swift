public import ShipProtocol
import StoreInbox
public import SystemPackage

/// Which generation of which store.
public struct GenerationStamp: Hashable, Sendable {
    public let store: StoreName
    /// From 1.
    public let number: Int
    /// Of its store's file.
    public let sha256: ContentDigest
    /// Its folder, for as long as the generation is kept.
    public let path: FilePath
    /// Its store's file in there.
    public let storePath: FilePath

    init(_ generation: Generation) {
        store = generation.manifest.name
        number = generation.number
        sha256 = generation.manifest.store.sha256
        path = generation.path
        storePath = generation.storePath
    }
}
