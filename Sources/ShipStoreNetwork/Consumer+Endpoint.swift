import DeviceTrust
public import ShipProtocol
public import ShipStore
public import ShipTransport

extension Consumer {
    /// Receives the shipments that an endpoint has.
    ///
    /// - Parameter link: How it is reached.
    /// - Returns: The receipts: what came is installed, durable and current.
    /// - Throws: Why the first one that failed did. The others are installed all the same; `report` has been told of each.
    public func receive(
        from endpoint: Endpoint, _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        do {
            var options = link
            if case .tcp = endpoint { options.security = try self.options.trust.security(of: .sender) }
            return try await Connector.withLink(from: endpoint, options) { link in
                let greeting: ConsumerSession.Greeting =
                    switch (link.direction, endpoint) {
                    case (.oneWay, _): .never
                    case (.twoWay, .standardStreams): .ifAsked
                    case (.twoWay, _): .atOnce
                    }
                return try await self.receive(over: link, greeting, report)
            }
        } catch {
            throw ShipmentError(error)
        }
    }
}
