import DeviceTrust
import ShipStore
import ShipTransport
import Synchronization

/// How the connections to one listener go: decided for each when it comes, from the list of trusted devices as it is then.
///
/// It only ever becomes stricter. A listener that has begun while nobody was trusted is there for its own machine until the
/// list changes for the first time; from then on it speaks TLS with trusted devices alone, also when the last of them is
/// trusted no more.
final class ListenerSecurity: Sendable {
    private let device: Device
    /// While it is open strangers get a link, on which they can do nothing but pair.
    private let window: PairingWindow?
    /// What the list was at the start, when it was empty.
    private let emptyList: TrustListVersion?
    private let isStrict: Atomic<Bool>
    private let identity = Mutex<DeviceIdentity?>(nil)

    init(_ device: Device, pairingIn window: PairingWindow?) throws(ShipmentError) {
        (self.device, self.window) = (device, window)
        // Before the list is read: whoever changes it in between makes this stricter than it need be.
        emptyList = try device.trustListVersion()
        let isAlone = try device.trustList().isEmpty
        isStrict = Atomic(window != nil || !isAlone)
    }

    /// How a connection goes that comes now.
    func next() throws(ShipmentError) -> LinkSecurity {
        guard try isStrictNow() else { return .plainOnLoopback }
        return .mutualTLS(try ownIdentity()) { [window, folder = device.folder] id in
            let admittance = try TrustPolicy.admittance(of: id, as: .sender, folder)
            return admittance == .refused && window?.isOpen == true ? .toPair : admittance
        }
    }

    private func isStrictNow() throws(ShipmentError) -> Bool {
        if isStrict.load(ordering: .relaxed) { return true }
        // Somebody may have been trusted and distrusted again since.
        let isUnchanged = try device.trustListVersion() == emptyList
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
