import DeviceTrust
import ShipLinks
import ShipProtocol
import StoreInbox

/// Who has sent a shipment, as far as it is proven, and whether it may send it: judged before anything is staged, whenever
/// the list of trusted devices changes meanwhile, and once more before it becomes current.
struct SenderJudgement {
    let trust: TrustPolicy
    /// What is to be done with shipments that nobody trusted has signed.
    let unsigned: UnsignedShipments
    /// Whether somebody has been trusted already: that the last of them is trusted no more opens no door.
    private(set) var isStrict = false

    init(trust: TrustPolicy, unsigned: UnsignedShipments) {
        (self.trust, self.unsigned) = (trust, unsigned)
    }

    /// By which a shipment is judged again that is judged now.
    func asStrictAsNow() throws(ShipmentError) -> SenderJudgement {
        var again = self
        if let list = try trust.list(), !list.isEmpty { again.isStrict = true }
        return again
    }

    /// - Parameters:
    ///   - proof: What came before the manifest in a one-way shipment.
    /// - Returns: Who it is, and the device that signed it, if one has.
    /// - Throws: `.signature`, `.unsigned`, `.unknownSigner`, `.notAllowed`, `.link(.notTrusted)`; errors of the list.
    func sender(
        of manifest: Manifest, over link: PeerLink, _ proof: Proof?
    ) throws(ShipmentError) -> (sender: Sender, signer: DeviceIdentifier?) {
        let signer = try proof?.signer()
        if let device = link.device {
            guard signer == nil || signer == device else { throw .signature(.otherDevice) }
            try trust.check(link, as: .sender, of: manifest.name)
            return (try known(device, manifest.name), signer)
        }
        // Over TCP it may be late to be nobody.
        try trust.check(link, as: .sender, of: manifest.name)
        let list = try trust.list()
        if let signer {
            let objection = try list.flatMap { (list) throws(ShipmentError) in
                try refusal(of: signer, list, manifest.name)
            }
            guard let objection else { return (try known(signer, manifest.name), signer) }
            guard unsigned == .taken else { throw objection }
            return (.operatorsWord, signer)
        }
        if unsigned == .taken { return (.operatorsWord, nil) }
        if link.medium == .file, let list, isStrict || !list.isEmpty {
            throw .unsigned(manifest.name, link.peer == .at(.standardStreams) ? .standardInput : .path)
        }
        return (.carrier, nil)
    }

    /// - Returns: Why the device may not send this store; `nil` if it may, as every device may where none is trusted.
    private func refusal(
        of signer: DeviceIdentifier, _ list: TrustList, _ name: StoreName
    ) throws(ShipmentError) -> ShipmentError? {
        guard isStrict || !list.isEmpty, try !trust.isOwn(signer) else { return nil }
        guard let stores = list.stores(of: signer, as: .sender) else { return .unknownSigner(signer) }
        return stores.contains(name) ? nil : .notAllowed(name, .sender)
    }

    private func known(_ id: DeviceIdentifier, _ name: StoreName) throws(ShipmentError) -> Sender {
        .device(
            ContentDigest(sha256: id.bytes), try trust.list()?.takesOver(name, by: id) == true ? .allowed : .notAllowed)
    }

    /// A device that takes the store over does so now, and not again.
    func takeOver(_ name: StoreName, by sender: Sender) throws(ShipmentError) {
        guard case .device(let digest, .allowed) = sender, let id = DeviceIdentifier(bytes: digest.bytes) else {
            return
        }
        guard case .trustedPeers(let device) = trust else { return }
        // Somebody may have taken it back since.
        guard try device.useTakeOver(of: name, by: id) else { throw .install(.outOfSequence(name, .otherDevice)) }
    }

    /// A signature, and what it is of.
    struct Proof {
        let signature: Signature
        let payload: [UInt8]
        let version: UInt8

        fileprivate func signer() throws(ShipmentError) -> DeviceIdentifier {
            do throws(SignatureError) {
                return try signature.signer(ofManifest: payload, version: version)
            } catch {
                throw .signature(error)
            }
        }
    }
}

/// What becomes of shipments of which nothing proves which device made them.
public enum UnsignedShipments: Hashable, Sendable {
    /// Pipes and sockets of this machine rely on what carries them. Those that were kept in files are refused as soon as
    /// this device trusts another, and so are those without a number, of a store whose shipments have one.
    case asCarried
    /// The operator has seen to it where they are from, and that they are no old ones.
    case taken
}
