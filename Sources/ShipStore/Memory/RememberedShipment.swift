import DeviceTrust
import ShipTransport
import StoreBases
import Synchronization

/// One shipment whose copy is to be remembered once its receiver has acknowledged it; until then it stays.
final class RememberedShipment: Sendable {
    let bases: RememberedBases
    private let receiver: String
    private let metadata: [String: String]
    private let shipment = Mutex<OutgoingShipment?>(nil)

    /// - Returns: `nil` for a link on which nobody answers.
    ///
    /// - Parameter metadata: What the user says of the store.
    init?(_ bases: RememberedBases?, over link: Link, metadata: [String: String]) {
        guard let bases, link.direction == .twoWay else { return nil }
        self.bases = bases
        self.metadata = metadata
        receiver = link.device?.text ?? "\(link.peer)"
    }

    func prepared(_ shipment: OutgoingShipment) { self.shipment.withLock { $0 = shipment } }

    /// It arrived, or failed: then nothing is remembered of it.
    func ended(_ result: Result<ProducerSession.Outcome, ShipmentError>) {
        let shipment = shipment.withLock { shipment in
            defer { shipment = nil }
            return shipment
        }
        guard case .success(let outcome) = result, outcome.receipt != nil else { return }
        // Nothing had to be copied.
        guard let shipment else { return bases.memory.tidy() }
        bases.acknowledged(
            outcome.manifest, copy: shipment.path(ofPart: 0), by: receiver,
            state: shipment.state?.encoded(with: metadata))
    }
}
