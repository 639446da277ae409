import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreInbox

/// Decides who has sent a shipment, as far as that is proven, and whether the sender may send it. A session asks before it stages anything,
/// whenever the list of trusted devices changes, and before the shipment becomes current.
struct SenderAuthorization {
    let trust: TrustPolicy
    /// See `Consumer.Options.takesUnsigned`.
    let takesUnsigned: Bool
    /// Whether a device has been trusted: then unsigned shipments stay refused when the last device is removed from the list.
    private(set) var isStrict = false

    /// Decides about the same shipment later, and does not become less strict.
    func asStrictAsNow() throws(ShipmentError) -> SenderAuthorization {
        var again = self
        if let list = try trust.list(), !list.isEmpty { again.isStrict = true }
        return again
    }

    /// - Parameter signer: The device whose signature came before the manifest of a one-way shipment; `nil` without one.
    /// - Throws: `.signature`, `.unsigned`, `.unknownSigner`, `.notAllowed`, `.link(.notTrusted)`; errors of the list.
    func sender(
        of manifest: Manifest, over link: PeerLink, signedBy signer: DeviceIdentifier?
    ) throws(ShipmentError) -> Sender {
        if let expected = link.signer, signer != expected.device { throw .signature(.otherDevice) }
        if let device = link.device {
            if let signer, signer != device {
                return try sender(of: manifest.name, made: signer, over: link, by: device)
            }
            guard try mayBeSender(device) else { throw .notAllowed(manifest.name, .sender) }
            try trust.check(link, as: .sender, of: manifest.name)
            return try known(device, manifest.name)
        }
        // Over TCP a device may have been trusted since the link was opened: then a sender without a certificate is refused.
        try trust.check(link, as: .sender, of: manifest.name)
        let list = try trust.list()
        if let signer {
            let objection = try list.flatMap { (list) throws(ShipmentError) in
                try refusal(of: link.signer ?? Succession(signer), list, manifest.name)
            }
            guard let objection else { return try known(signer, manifest.name) }
            guard takesUnsigned else { throw objection }
            return .operatorsWord
        }
        if takesUnsigned { return .operatorsWord }
        if link.isFile, let list, isStrict || !list.isEmpty {
            throw .unsigned(manifest.name, onStandardInput: link.peer == .at(.standardStreams))
        }
        return .carrier
    }

    /// Decides about a shipment that a known device passes on. That device is relied on for nothing but the delivery: whether the store may be
    /// replaced is asked of the device that made it.
    private func sender(
        of name: StoreName, made signer: DeviceIdentifier, over link: PeerLink, by device: DeviceIdentifier
    ) throws(ShipmentError) -> Sender {
        try trust.check(link, as: .relay, of: name)
        if try !trust.isOwn(signer) {
            guard let stores = try trust.list()?.stores(of: signer, as: .sender) else { throw .unknownSigner(signer) }
            guard stores.contains(name) else { throw .notAllowed(name, .sender) }
        }
        return try known(signer, name, by: device)
    }

    /// Whether a device may send anything: one that may only pass on may not.
    private func mayBeSender(_ id: DeviceIdentifier) throws(ShipmentError) -> Bool {
        guard let list = try trust.list(), list.stores(of: id, as: .relay) != nil else { return true }
        return list.stores(of: id, as: .sender) != nil
    }

    /// - Returns: Why the device may not send this store; `nil` if it may. Where no device is trusted, all may.
    private func refusal(
        of signer: Succession, _ list: TrustList, _ name: StoreName
    ) throws(ShipmentError) -> ShipmentError? {
        guard isStrict || !list.isEmpty, try !trust.isOwn(signer.device) else { return nil }
        guard let stores = list.stores(sentBy: signer) else { return .unknownSigner(signer.device) }
        return stores.contains(name) ? nil : .notAllowed(name, .sender)
    }

    /// - Parameter relay: The device that passes the shipment on.
    private func known(
        _ id: DeviceIdentifier, _ name: StoreName, by relay: DeviceIdentifier? = nil
    ) throws(ShipmentError) -> Sender {
        .device(
            ContentDigest(sha256: id.bytes), mayTakeOver: try trust.list()?.takesOver(name, by: id) == true,
            relay: relay.map { ContentDigest(sha256: $0.bytes) })
    }

    /// Uses the permission of a device to take the store over, which it has once.
    ///
    /// - Returns: What gives it back where the store has not become current; `nil` where it was not needed.
    func takeOver(_ name: StoreName, by sender: Sender) throws(ShipmentError) -> (() -> Void)? {
        guard case .device(let digest, mayTakeOver: true, _) = sender, let id = DeviceIdentifier(bytes: digest.bytes),
            case .trustedPeers(let device) = trust
        else { return nil }
        // The user may have withdrawn the permission since.
        guard try device.useTakeOver(of: name, by: id) else { throw .install(.outOfSequence(name, .otherDevice)) }
        return { try? device.folder.returnTakeOver(of: name, to: id) }
    }
}
