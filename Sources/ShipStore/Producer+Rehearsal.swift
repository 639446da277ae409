public import ShipTransport
import StoreSnapshot

extension Producer {
    /// Does all that `send` does, but for the sending: nobody is called, nothing is written but a temporary copy, and no
    /// number of a shipment is used up.
    ///
    /// - Returns: What would go, and in how many bytes at the utmost: a receiver may have some of it already.
    public func rehearse(
        to endpoint: Endpoint, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> Delivery {
        let start = ContinuousClock.now
        do {
            let source = try SourceStore(at: store, busyTimeout: options.copy.busyTimeout)
            try protect(source, from: endpoint)
            try Connector.checkTarget(endpoint, options.link)
            let name = options.name ?? StoreName(suggestedBy: store)
            let session = ProducerSession(timeouts: options.timeouts, standing: .ofNobody, report: report) {
                let copy = try await PreparedCopy(of: source, named: name, options.copy, metadata: options.metadata)
                report(.copied(copy.manifest, .now - start))
                return OutgoingShipment(copy, options.manner)
            }
            let outcome = try await session.run(.nowhere(as: endpoint))
            return Delivery(
                manifest: outcome.manifest, receipt: nil, bytesSent: outcome.bytesSent, duration: .now - start)
        } catch {
            throw ShipmentError(error)
        }
    }
}
