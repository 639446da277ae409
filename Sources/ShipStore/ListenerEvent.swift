public import DeviceTrust

/// An event of a listener, outside of its sessions, whichever side listens.
public enum ListenerEvent: Hashable, Sendable {
    /// Connections are accepted at this address.
    case listening(String)
    /// A device may pair by this code.
    case pairing(PairingCode)
    /// A device has paired, and is trusted from now on.
    case paired(TrustedPeer)
    /// A device without permission connected from this address.
    case turnedAway(String, ShipmentError)
}
