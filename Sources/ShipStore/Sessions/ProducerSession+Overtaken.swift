import ShipLinks
import ShipProtocol

extension ProducerSession {
    /// Ships what is there, and where the consumer has a shipment by now that this device made later, a new copy, once.
    ///
    /// Of two that send a store at the same time one takes its copy first, and may be the one whose manifest comes last: its number
    /// is too low then, although nothing is old about it but that.
    ///
    /// - Returns: What the consumer has, and its last word.
    func shipInOrder(
        _ shipment: consuming OutgoingShipment, _ order: Order, _ frames: inout FrameReader, _ writer: FrameWriter,
        _ conversation: ProducerConversation, _ roundTrip: inout RoundTrip
    ) async throws(RefusedShipment) -> (Manifest, Receipt) {
        // The first copy goes before the second one is taken.
        var next: OutgoingShipment? = consume shipment
        var mayRepeat = true
        while let shipment = next.take() {
            do throws(RefusedShipment) {
                let receipt = try await ship(shipment, order, &frames, writer, conversation, &roundTrip)
                return (shipment.manifest, receipt)
            } catch {
                guard mayRepeat, error.isReplayed, order.isOvertaken(shipment.manifest) else { throw error }
            }
            mayRepeat = false
            report(.overtaken(shipment.manifest.name))
            next = try await copyAgain(order, writer)
        }
        throw RefusedShipment(ShipmentError(BrokenInvariant("there is nothing to ship")), isEnd: true)
    }

    private func copyAgain(_ order: Order, _ writer: FrameWriter) async throws(RefusedShipment) -> OutgoingShipment {
        do {
            return try await copy(order, writer)
        } catch {
            let failure = ShipmentError(error)
            let isOver = failure == .stopped || error is LinkError || (try? standing.check()) == nil
            throw RefusedShipment(failure, isEnd: isOver)
        }
    }
}

extension ProducerSession.RefusedShipment {
    /// Whether others may go on, and the consumer has had a higher number.
    fileprivate var isReplayed: Bool {
        guard end == nil, case .refused(let reason) = cause else { return false }
        return reason.knownCode == .replayed
    }
}
