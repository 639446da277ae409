import ShipProtocol

extension ProducerSession {
    /// A shipment that broke off is brought to its end before one of a newer copy, where that can build on it: what the consumer
    /// has of it already is not lost then, and what has changed since is little, most often.
    ///
    /// - Throws: What ends the session. That the consumer does not take it is no matter: the newer one says the last word.
    func finishEarlier(
        before shipment: OutgoingShipment, _ order: Order, _ frames: inout FrameReader, _ writer: FrameWriter,
        _ conversation: ProducerConversation, _ roundTrip: inout RoundTrip
    ) async throws(RefusedShipment) {
        guard let start = conversation.unfinished(shipment.manifest.name),
            let earlier = await order.unfinished(start, shipment)
        else { return }
        report(.finishing(earlier.manifest))
        // The order's own shipment is still to come.
        var order = order
        order.sent = {}
        do throws(RefusedShipment) {
            _ = try await ship(earlier, order, &frames, writer, conversation, &roundTrip)
        } catch {
            guard error.end == nil else { throw error }
            return
        }
        order.finished(earlier)
    }
}
