import DeviceTrust
import ShipProtocol
import ShipTransport

/// Who may be at the other end of a TCP link. Pipes, files and Unix sockets rely on what carries them.
public enum TrustPolicy: Sendable {
    /// Programs of this machine, unasked, and nobody else.
    case localPrograms
    /// The devices that this one trusts, wherever they are, over TLS; and this device itself, which is whoever has its
    /// key.
    ///
    /// A device that trusts nobody has not said yet who may come in. It speaks with programs of its own machine, as with
    /// `.localPrograms`, so that two commands are enough to begin with, and with nobody else. From the first trusted
    /// device on the list counts everywhere: another user of this machine is a stranger like any other.
    case trustedPeers(of: Device)

    /// How TCP links to, or from, peers of this role are to be made.
    ///
    /// - Parameter window: While it is open strangers are let in, who can do nothing but pair.
    func security(
        of role: TrustedPeer.Role, pairingIn window: PairingWindow? = nil
    ) throws(ShipmentError) -> LinkSecurity {
        guard case .trustedPeers(let device) = self else { return .plainOnLoopback }
        let isAlone = try device.trustList().isEmpty
        guard window != nil || !isAlone else { return .plainOnLoopback }
        let own = try device.identity()
        return .mutualTLS(own) { [folder = device.folder] id in
            try id == own.id || window?.isOpen == true || folder.trustList().stores(of: id, as: role) != nil
        }
    }

    /// - Returns: `nil` where there is none.
    func list() throws(ShipmentError) -> TrustList? {
        guard case .trustedPeers(let device) = self else { return nil }
        return try device.trustList()
    }

    /// Whether it is this device itself.
    func isOwn(_ id: DeviceIdentifier) throws(ShipmentError) -> Bool {
        guard case .trustedPeers(let device) = self else { return false }
        return try device.existingIdentity()?.id == id
    }

    /// - Parameter id: Of the device at the other end; `nil` where nobody is asked.
    /// - Returns: What it may be trusted with at this moment.
    /// - Throws: `.link(.notTrusted)`, if it is trusted no more; errors of the list.
    func stores(
        of id: DeviceIdentifier?, as role: TrustedPeer.Role
    ) throws(ShipmentError) -> TrustedPeer.Stores {
        guard let id else { return .all }
        guard case .trustedPeers(let device) = self else { throw .link(.notTrusted(id)) }
        if try isOwn(id) { return .all }
        guard let stores = try device.trustList().stores(of: id, as: role) else { throw .link(.notTrusted(id)) }
        return stores
    }
}
