import ShipProtocol
import StoreInbox
import StoreInstall

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
    /// Most stores that come from one device, so that none takes all names, nor the time to look through them.
    public var storesPerDevice = 256

    /// The quantity that exceeds the budget, and the limit.
    public enum Excess: Error, Hashable, Sendable {
        case storeSize(Int64, allowed: Int64)
        case externalFileCount(Int, allowed: Int)
        case externalFilesSize(Int64, allowed: Int64)
        /// There are as many stores of the device as are allowed, and this would be one more.
        case storesOfDevice(allowed: Int)
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

    /// Whether a device may bring one more store, if it is one.
    ///
    /// - Parameter coming: The stores that it brings at the same time: what is staged has no record yet.
    func admit(
        _ name: StoreName, from device: ContentDigest, beside coming: Set<StoreName>, into folder: InboxFolder
    ) throws {
        guard try Self.device(of: name, in: folder) != device else { return }
        var others = coming.subtracting([name])
        for other in try folder.storeNames() where others.count < storesPerDevice {
            if other != name, (try? Self.device(of: other, in: folder)) == device { others.insert(other) }
        }
        guard others.count < storesPerDevice else { throw Excess.storesOfDevice(allowed: storesPerDevice) }
    }

    /// The device that a store comes from, or whose shipment of it waits.
    private static func device(of name: StoreName, in folder: InboxFolder) throws(InboxError) -> ContentDigest? {
        if let record = try folder.originRecord(of: name) { return record.producer }
        return folder.waitingShipments(of: name).first?.record.producer
    }
}
