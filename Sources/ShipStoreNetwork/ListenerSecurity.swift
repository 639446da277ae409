import DeviceTrust
import ShipStore
import ShipTransport
import StoreFiles
import Synchronization

/// Decides the security of each connection of a listener when it comes, from the current list of trusted devices.
///
/// The security only becomes stricter. A listener that started with an empty list serves its own machine until the list first changes;
/// from then on it speaks TLS, with trusted devices only, and stays so if the list becomes empty again.
final class ListenerSecurity: Sendable {
    private let device: Device
    /// The role in which those who connect have to be trusted.
    private let role: TrustedPeer.Role
    /// While it is open, an unknown device gets a link on which it can only pair.
    private let window: PairingWindow?
    /// The version of the list at the start.
    private let firstVersion: FileStatus?
    private let isStrict: Atomic<Bool>
    private let identity = Mutex<DeviceIdentity?>(nil)

    /// - Parameter isAlwaysStrict: Whether programs of this machine are strangers, too, where no device is trusted.
    init(
        _ device: Device, as role: TrustedPeer.Role, pairingIn window: PairingWindow?, isAlwaysStrict: Bool
    ) throws(ShipmentError) {
        (self.device, self.role, self.window) = (device, role, window)
        // Before the list is read: a change in between makes this listener stricter than necessary, never laxer.
        firstVersion = try device.trustListVersion()
        let isAlone = try device.trustList().isEmpty
        isStrict = Atomic(isAlwaysStrict || window != nil || !isAlone)
    }

    /// The security of a connection that comes now.
    func next() throws(ShipmentError) -> LinkSecurity {
        guard try isStrictNow() else { return .plainOnLoopback }
        // A list that cannot be read is told here. Within the handshake it would turn away devices that are trusted, as if they were not.
        _ = try device.trustList()
        return .mutualTLS(try ownIdentity()) { [window, role, folder = device.folder] id in
            let admittance = try TrustPolicy.admittance(of: id, as: role, folder)
            return admittance == .refused && window?.isOpen == true ? .toPair : admittance
        }
    }

    private func isStrictNow() throws(ShipmentError) -> Bool {
        if isStrict.load(ordering: .relaxed) { return true }
        // The list may be empty again after two changes.
        let isUnchanged = try device.trustListVersion() == firstVersion
        let isAlone = try device.trustList().isEmpty
        guard !isUnchanged || !isAlone else { return false }
        isStrict.store(true, ordering: .relaxed)
        return true
    }

    private func ownIdentity() throws(ShipmentError) -> DeviceIdentity {
        if let known = identity.withLock({ $0 }) { return known }
        let own = try device.identity()
        identity.withLock { $0 = own }
        return own
    }
}

extension TrustPolicy {
    /// The security of a TCP link to a peer of this role. A listener asks `ListenerSecurity`, for each connection.
    func security(of role: TrustedPeer.Role) throws(ShipmentError) -> LinkSecurity {
        guard case .trustedPeers(let device) = self, try !device.trustList().isEmpty else { return .plainOnLoopback }
        return .mutualTLS(try device.identity()) { [folder = device.folder] in
            try Self.admittance(of: $0, as: role, folder)
        }
    }

    /// The current list's admittance of a device. Who would send may also pass on what others send: the session asks which, for each
    /// shipment.
    static func admittance(
        of id: DeviceIdentifier, as role: TrustedPeer.Role, _ folder: DeviceFolder
    ) throws -> LinkSecurity.Admittance {
        let isKnown = try folder.trustList().stores(of: id, as: role == .sender ? .relay : role) != nil
        return try isKnown || id == folder.existingIdentity()?.id ? .full : .refused
    }
}
