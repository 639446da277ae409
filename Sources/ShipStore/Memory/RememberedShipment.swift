import DeviceTrust
import ShipTransport
import StoreBases
import Synchronization

/// One shipment whose copy is to be remembered once its receiver has acknowledged it; until then it stays.
final class RememberedShipment: Sendable {
    let bases: RememberedBases
    private let receiver: String
    private let shipment = Mutex<OutgoingShipment?>(nil)

    /// - Returns: `nil` for a link on which nobody answers.
    init?(_ bases: RememberedBases?, over link: Link) {
        guard let bases, link.direction == .twoWay else { return nil }
        self.bases = bases
        receiver = link.device?.text ?? "\(link.peer)"
    }

    func prepared(_ shipment: OutgoingShipment) { self.shipment.withLock { $0 = shipment } }

    /// It arrived, or failed: then nothing is remembered of it.
    func ended(_ result: Result<ProducerSession.Outcome, ShipmentError>) {
        let shipment = shipment.withLock { shipment in
            defer { shipment = nil }
            return shipment
        }
        guard let shipment, case .success(let outcome) = result, outcome.receipt != nil else { return }
        bases.acknowledged(
            outcome.manifest, copy: shipment.path(ofPart: 0), by: receiver, state: shipment.state?.encoded)
    }
}
