package import DeviceTrust
package import ShipLinks

/// Who may be at the other end of a TCP link.
package enum LinkSecurity: Sendable {
    /// Anybody on this machine, unasked: bytes go as they are, and to and from this machine only.
    case plainOnLoopback
    /// Devices that are known, anywhere: TLS 1.3, in which each side shows its certificate and proves to have its key.
    case mutualTLS(DeviceIdentity, admitting: Admission)

    /// How far a device that has shown who it is gets.
    package enum Admittance: Hashable, Sendable {
        /// Not at all: its handshake fails.
        case refused
        /// It has a link, on which it can come to be known: to a listener it stays one of those that are not.
        case toPair
        case full
    }

    /// How far a device gets at the other end. It is asked anew for each link, on a thread that may wait for a disk; what it
    /// throws counts as `.refused`.
    package typealias Admission = @Sendable (DeviceIdentifier) throws -> Admittance

    /// How a connection to a listener goes that comes from there. It is asked anew for each, on a thread that may wait for a
    /// disk; if it throws, the connection is closed.
    package typealias Choice = @Sendable (Endpoint) throws -> LinkSecurity
}
