public import DeviceTrust
import EssentialFoundation
import ShipProtocol
public import SystemPackage

/// This device: who it is, and whom it trusts.
public struct Device: Sendable {
    public let folder: DeviceFolder

    /// - Parameter folder: Where its key and its list are; `nil` for the user's own place.
    public init(folder: FilePath? = nil) {
        self.folder = folder.map(DeviceFolder.init(at:)) ?? .standard
    }

    /// Who it is; the first time this is asked, it becomes somebody.
    public func identity() throws(ShipmentError) -> DeviceIdentity {
        try Self.explained { try folder.identity() }
    }

    /// Who it is; `nil` if it has not become anybody yet.
    func existingIdentity() throws(ShipmentError) -> DeviceIdentity? {
        try Self.explained { try folder.existingIdentity() }
    }

    /// The number of the next shipment, for one of them.
    func nextCounter() throws(ShipmentError) -> UInt64 {
        try Self.explained { try folder.nextCounter() }
    }

    /// Whether a number has been drawn since this one.
    func hasCounted(beyond counter: UInt64) -> Bool { ((try? folder.lastCounter()) ?? 0) > counter }

    /// - Returns: Whether a peer might take a store over; now it has.
    func useTakeOver(of name: StoreName, by id: DeviceIdentifier) throws(ShipmentError) -> Bool {
        try Self.explained { try folder.useTakeOver(of: name, by: id) }
    }

    public func peers() throws(ShipmentError) -> [TrustedPeer] { try trustList().peers }

    package func trustList() throws(ShipmentError) -> TrustList {
        try Self.explained { try folder.trustList() }
    }

    package func trustListVersion() throws(ShipmentError) -> TrustListVersion? {
        try Self.explained { try folder.trustListVersion() }
    }

    /// Trusts a device from now on, or changes what it is trusted with.
    public func trust(_ id: DeviceIdentifier, _ terms: TrustList.Terms = .init()) throws(ShipmentError) -> TrustedPeer {
        try Self.explained { try folder.trust(id, terms, at: Timestamp(Date())) }
    }

    /// - Parameter idOrName: Of the peer.
    /// - Returns: The peer that is trusted no more.
    /// - Throws: Among others, `.noSuchPeer`.
    public func distrust(_ idOrName: String) throws(ShipmentError) -> TrustedPeer {
        guard let peer = try Self.explained({ try folder.distrust(idOrName) }) else {
            throw .noSuchPeer(ForeignText(idOrName))
        }
        return peer
    }

    private static func explained<Result>(_ body: () throws -> Result) throws(ShipmentError) -> Result {
        do {
            return try body()
        } catch {
            throw ShipmentError(error)
        }
    }
}
