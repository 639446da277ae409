import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreInbox

/// The bases of the shipments of a one-way session: the holdings that their receiver has named, and a shipment that was made before.
final class FiledBases: Sendable {
    private let holdings: HoldingsFile?
    /// The stores of the earlier shipment, and what keeps them unpacked.
    private let earlier: [(generation: Generation, signer: DeviceIdentifier?)]
    private let unpacked: UnpackedShipments?

    /// Unpacks the earlier shipment, with every check that a receiver makes.
    ///
    /// - Returns: `nil` if the options name neither.
    init?(_ options: Producer.Options) async throws(ShipmentError) {
        guard options.holdings != nil || options.earlier != nil else { return nil }
        holdings = options.holdings
        if let path = options.earlier {
            // A named pipe would be waited for, and a folder has no shipment.
            _ = try Artifact(at: path)
            let shipments: UnpackedShipments
            do throws(ShipmentError) {
                shipments = try await UnpackedShipments(path, options.copy, options.checking)
            } catch {
                switch error {
                // They name it, or are not about what is in it.
                case .notWhole, .file, .install, .stopped: throw error
                default: throw .earlier(path, error)
                }
            }
            earlier = shipments.all
            unpacked = consume shipments
        } else {
            earlier = []
            unpacked = nil
        }
    }

    /// The time until which the receiver keeps what the holdings file names, if that time has passed.
    var expiry: Timestamp? { holdings.flatMap { $0.until < Timestamp(Date()) ? $0.until : nil } }

    func shipment(of name: StoreName, _ memory: RememberedBases?, signer: DeviceIdentity?) -> FiledShipment {
        let signer = signer.map { ContentDigest(sha256: $0.id.bytes) }
        return FiledShipment(name, find(name, memory, signer), memory, for: holdings)
    }

    private func find(
        _ name: StoreName, _ memory: RememberedBases?, _ signer: ContentDigest?
    ) -> Result<OutgoingBase, WholeShipment> {
        let known = earlierStore(name)
        guard let holdings else {
            guard let known else { return .failure(.notInShipment) }
            return known.signer == signer ? .success(known.base) : .failure(.otherSender)
        }
        guard holdings.sender == signer else { return .failure(.otherSender) }
        guard let held = holdings[name] else { return .failure(.notHeld) }
        if let known, known.base.digest == held.store { return .success(known.base) }
        // Its digest is computed now: once the manifest names the base, the receiver must have it, whatever this side sends.
        let copy = memory?.bases.first { $0.record.sha256 == held.store }
        guard let copy, let opened = copy.open() else { return .failure(.notRemembered) }
        return .success(
            OutgoingBase(content: ManifestContent(of: copy.manifest), digest: held.store) { (opened.path, opened) })
    }

    /// A store of the earlier shipment, and the device that has signed it.
    private func earlierStore(_ name: StoreName) -> (base: OutgoingBase, signer: ContentDigest?)? {
        guard let found = earlier.last(where: { $0.generation.manifest.name == name }) else { return nil }
        let manifest = found.generation.manifest
        let base = OutgoingBase(content: ManifestContent(of: manifest), digest: manifest.store.sha256) { [self] in
            (found.generation.storePath, self)
        }
        return (base, found.signer.map { ContentDigest(sha256: $0.bytes) })
    }
}
