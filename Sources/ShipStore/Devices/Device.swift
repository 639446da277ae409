public import DeviceTrust
import EssentialFoundation
import ShipProtocol
package import StoreFiles
public import SystemPackage

/// This device: its identity, and the devices that it trusts.
public struct Device: Sendable {
    public let folder: DeviceFolder

    /// - Parameter folder: The folder of its key and its list; `nil` for the user's standard folder.
    public init(folder: FilePath? = nil) {
        self.folder = folder.map(DeviceFolder.init(at:)) ?? .standard
    }

    /// Its identity, which the first call makes.
    public func identity() throws(ShipmentError) -> DeviceIdentity {
        try ShipmentError.wrapping { try folder.identity() }
    }

    /// Its identity; `nil` if none has been made.
    func existingIdentity() throws(ShipmentError) -> DeviceIdentity? {
        try ShipmentError.wrapping { try folder.existingIdentity() }
    }

    /// With what others encrypt for this device; the first call makes it.
    public func encryptionKey() throws(ShipmentError) -> EncryptionKey { try decryptionKey().encryptionKey }

    func decryptionKey() throws(ShipmentError) -> DecryptionKey {
        try ShipmentError.wrapping { try folder.decryptionKey() }
    }

    /// - Returns: `nil` if none has been made.
    func existingDecryptionKey() throws(ShipmentError) -> DecryptionKey? {
        try ShipmentError.wrapping { try folder.existingDecryptionKey() }
    }

    /// Draws the number of the next shipment.
    func nextCounter(waitingWhile mayGoOn: () -> Bool = { !Task.isCancelled }) throws(ShipmentError) -> UInt64 {
        try ShipmentError.wrapping { try folder.nextCounter(waitingWhile: mayGoOn) }
    }

    /// Whether a number has been drawn since this one.
    func hasCounted(beyond counter: UInt64) -> Bool { ((try? folder.lastCounter()) ?? 0) > counter }

    /// Uses a peer's permission to take a store over.
    func useTakeOver(of name: StoreName, by id: DeviceIdentifier) throws(ShipmentError) -> Bool {
        try ShipmentError.wrapping { try folder.useTakeOver(of: name, by: id) }
    }

    public func peers() throws(ShipmentError) -> [TrustedPeer] { try trustList().peers }

    package func trustList() throws(ShipmentError) -> TrustList {
        try ShipmentError.wrapping { try folder.trustList() }
    }

    package func trustListVersion() throws(ShipmentError) -> FileStatus? {
        try ShipmentError.wrapping { try folder.trustListVersion() }
    }

    /// Trusts a device from now on, or changes what it is trusted with.
    public func trust(_ id: DeviceIdentifier, _ changes: TrustList.PeerChanges = .init()) throws(ShipmentError)
        -> TrustedPeer
    {
        try ShipmentError.wrapping { try folder.trust(id, changes, at: Timestamp(Date())) }
    }

    /// - Parameter idOrName: The peer's id or name.
    /// - Returns: The peer, which is no longer trusted.
    /// - Throws: Among others, `.noSuchPeer`.
    public func distrust(_ idOrName: String) throws(ShipmentError) -> TrustedPeer {
        let peer = try ShipmentError.wrapping { try folder.distrust(idOrName) }
        guard let peer else { throw noSuchPeer(idOrName) }
        return peer
    }

    package func noSuchPeer(_ text: String) -> ShipmentError {
        let names = ((try? peers()) ?? []).map(\.name.text)
        return .noSuchPeer(ForeignText(text), near: NearNames.names(near: text, among: names))
    }
}
