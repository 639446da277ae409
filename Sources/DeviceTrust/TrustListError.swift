public import ShipProtocol

/// Why a device cannot be trusted.
public enum TrustListError: Error, Hashable, Sendable {
    case nameIsTaken(PeerName, by: DeviceIdentifier)
    /// It is this device's own id.
    case isThisDevice
    /// The peer has all stores, and a list cannot say "all except these".
    case removedFromAll(Set<StoreName>)
    case tooMany
    /// The list would be larger than what is read of it: it names too many stores.
    case tooLong
}
