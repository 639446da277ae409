import ShipProtocol

/// How much a shipment may bring. The manifest alone decides, before anything is staged, so that a trusted sender cannot fill
/// the disk either.
///
/// Later each byte is checked against the manifest. The limits of manifests and frames are the protocol's own
/// (`Protocol/README.md` section 9).
public struct ShipmentBudget: Hashable, Sendable {
    /// Most bytes of the store itself.
    public var storeSize: Int64 = 16_000_000_000
    /// Most external files.
    public var externalFileCount = 16_384
    /// Most bytes of all external files together.
    public var externalFilesSize: Int64 = 16_000_000_000

    /// What exceeds the budget, and the limit.
    public enum Excess: Error, Hashable, Sendable {
        case storeSize(Int64, allowed: Int64)
        case externalFileCount(Int, allowed: Int)
        case externalFilesSize(Int64, allowed: Int64)
    }

    public init() {}

    func admit(_ manifest: Manifest) throws(Excess) {
        guard manifest.store.size <= storeSize else { throw .storeSize(manifest.store.size, allowed: storeSize) }
        let files = manifest.externalFiles
        guard files.count <= externalFileCount else {
            throw .externalFileCount(files.count, allowed: externalFileCount)
        }
        // Neither the sizes nor their number come near an overflow [`Limits.partSize`, `Limits.externalFiles`].
        let size = files.reduce(0) { $0 + $1.size }
        guard size <= externalFilesSize else { throw .externalFilesSize(size, allowed: externalFilesSize) }
    }
}
