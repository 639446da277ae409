import DeviceTrust
import ShipStore
import ShipTransport

extension TrustPolicy {
    /// How a TCP link to a peer of this role is to be made. A listener asks `ListenerSecurity`, for each connection.
    func security(of role: TrustedPeer.Role) throws(ShipmentError) -> LinkSecurity {
        guard case .trustedPeers(let device) = self, try !device.trustList().isEmpty else { return .plainOnLoopback }
        return .mutualTLS(try device.identity()) { [folder = device.folder] in
            try Self.admittance(of: $0, as: role, folder)
        }
    }

    /// How far a device gets, as the list is at this moment.
    static func admittance(
        of id: DeviceIdentifier, as role: TrustedPeer.Role, _ folder: DeviceFolder
    ) throws -> LinkSecurity.Admittance {
        let isKnown = try folder.trustList().stores(of: id, as: role) != nil
        return try isKnown || id == folder.existingIdentity()?.id ? .full : .refused
    }
}
