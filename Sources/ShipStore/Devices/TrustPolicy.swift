package import DeviceTrust
package import ShipLinks
import ShipProtocol

/// Who may be at the other end of a TCP link. Pipes, files and Unix sockets rely on what carries them.
public enum TrustPolicy: Sendable {
    /// Programs of this machine, without authentication, and no others.
    case localPrograms
    /// The devices that this one trusts, wherever they are, over TLS; and this device itself, which is every program that has its key.
    ///
    /// A device that trusts no other speaks only with programs of its own machine, as with `.localPrograms`: so two commands are enough to
    /// begin with. From the first trusted device on, the list counts everywhere: another user of this machine is a stranger like any other.
    case trustedPeers(of: Device)

    /// This device; `nil` for local programs.
    var device: Device? {
        guard case .trustedPeers(let device) = self else { return nil }
        return device
    }

    /// - Returns: `nil` for local programs, which have no list.
    package func list() throws(ShipmentError) -> TrustList? { try device?.trustList() }

    /// Whether it is this device itself.
    func isOwn(_ id: DeviceIdentifier) throws(ShipmentError) -> Bool { try ownIdentifier() == id }

    /// - Returns: `nil` if this device has no identifier yet, or needs none.
    func ownIdentifier() throws(ShipmentError) -> DeviceIdentifier? { try device?.existingIdentity()?.id }

    /// - Returns: The stores for which the other end of a link is trusted now.
    /// - Throws: `.link(.notTrusted)`, if it is no longer trusted; `.link(.noCertificate)` if it has shown no certificate, and a device has
    ///   been trusted meanwhile; errors of the list.
    package func stores(of link: PeerLink, as role: TrustedPeer.Role) throws(ShipmentError) -> TrustedPeer.Stores {
        guard let id = link.device else {
            guard case .at(.tcp) = link.peer, let list = try list(), !list.isEmpty else { return .all }
            throw .link(.noCertificate)
        }
        guard case .trustedPeers(let device) = self else { throw .link(.notTrusted(id)) }
        if try isOwn(id) { return .all }
        guard let stores = try device.trustList().stores(of: id, as: role) else { throw .link(.notTrusted(id)) }
        return stores
    }

    func check(_ link: PeerLink, as role: TrustedPeer.Role, of name: StoreName) throws(ShipmentError) {
        try check(link, as: role, ofAny: [name])
    }

    /// Checks that one of several names is allowed.
    func check(_ link: PeerLink, as role: TrustedPeer.Role, ofAny names: [StoreName]) throws(ShipmentError) {
        let stores = try stores(of: link, as: role)
        if let first = names.first, !names.contains(where: stores.contains) { throw .notAllowed(first, role) }
    }
}
