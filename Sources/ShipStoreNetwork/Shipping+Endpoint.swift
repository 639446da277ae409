import DeviceTrust
public import ShipProtocol
public import ShipStore
public import ShipTransport
import StoreFiles
import StoreSnapshot
import SystemPackage

extension Producer {
    /// Ships one compact copy of each store.
    ///
    /// - Parameter link: How the endpoint is reached.
    /// - Returns: In the order of the stores, with the consumer's receipt where the link goes both ways: then the copy is installed
    ///   and durable.
    /// - Throws: Why the first one that failed did. The others have arrived all the same, but in a file: that is there as a whole or
    ///   not at all. `report` has been told of each.
    public func send(
        to endpoint: Endpoint, _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        do {
            let departure = try await depart(to: endpoint, link, report)
            var options = link
            if case .tcp = endpoint { options.security = try self.options.trust.security(of: .receiver) }
            return try await Connector.withLink(to: endpoint, options) { try await departure.run(over: $0) }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Does all that `send` does, but for the sending: nobody is called, nothing is written but temporary copies, and no
    /// number of a shipment is used up.
    ///
    /// - Returns: What would go, and in how many bytes at the utmost: a receiver may have some of it already.
    public func rehearse(
        to endpoint: Endpoint, _ link: LinkOptions = LinkOptions(),
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        do {
            let departure = try await depart(to: endpoint, link, report)
            try Connector.checkTarget(endpoint, link)
            let isFile = if case .file = endpoint { true } else { false }
            return try await departure.rehearse(into: isFile ? .file : .stream, as: endpoint)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Whatever the user allows to be replaced: never what is being sent.
    private func depart(
        to endpoint: Endpoint, _ link: LinkOptions, _ report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> Departure {
        switch endpoint {
        case .file(let file): return try await depart(avoiding: file, report: report)
        case .standardStreams:
            let output = try? PlatformCalls.status(of: link.standardOutput, "-")
            return try await depart(report: report) { (store, path) throws(ShipmentError) in
                if let output, store.owns(output) { throw .source(.partOfStore(path)) }
            }
        case .tcp, .unix, .command: return try await depart(report: report)
        }
    }
}

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
