package import DeviceTrust

/// Who may be at the other end of a TCP link.
package enum LinkSecurity: Sendable {
    /// Anybody on this machine, unasked: bytes go as they are, and to and from this machine only.
    case plainOnLoopback
    /// Devices that are known, anywhere: TLS 1.3, in which each side shows its certificate and proves to have its key.
    case mutualTLS(DeviceIdentity, admitting: Admission)

    /// Whether a device may be at the other end. It is asked anew for each link, on a thread that may wait for a disk;
    /// what it throws counts as no.
    package typealias Admission = @Sendable (DeviceIdentifier) throws -> Bool
}
