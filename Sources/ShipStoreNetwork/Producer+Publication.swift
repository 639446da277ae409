public import DeviceTrust
public import ShipProtocol
public import ShipStore

extension Producer {
    /// Names the device that goes on with a publication. Receivers take its heads and shipments from then on, and nothing more of this device
    /// there.
    public func handOver(
        _ endpoint: Endpoint, to device: DeviceIdentifier, _ link: LinkOptions = LinkOptions()
    ) async throws(ShipmentError) {
        try await withPublisher(at: endpoint, link) { try await $0.handOver(to: device) }
    }

    /// Has no receiver take anything of stores from now on, whatever is published: of all if none is named.
    ///
    /// - Returns: The stores that are halted now.
    public func halt(
        _ endpoint: Endpoint, _ names: Set<StoreName> = [], _ link: LinkOptions = LinkOptions()
    ) async throws(ShipmentError) -> [StoreName] {
        try await withPublisher(at: endpoint, link) { try await $0.halt(names) }
    }

    /// Has receivers take what is published again: of all that are halted if none is named.
    ///
    /// - Returns: The stores that are still halted.
    public func resume(
        _ endpoint: Endpoint, _ names: Set<StoreName> = [], _ link: LinkOptions = LinkOptions()
    ) async throws(ShipmentError) -> [StoreName] {
        try await withPublisher(at: endpoint, link) { try await $0.resume(names) }
    }

    /// Has all receivers take the newest state of stores, whatever is being rolled out: of all if none is named.
    ///
    /// - Returns: The stores of which a state is still being rolled out, and those of the others that are halted.
    public func release(
        _ endpoint: Endpoint, _ names: Set<StoreName> = [], _ link: LinkOptions = LinkOptions()
    ) async throws(ShipmentError) -> (rollingOut: [StoreName], halted: [StoreName]) {
        try await withPublisher(at: endpoint, link) { try await $0.release(names) }
    }

    /// Removes the objects of a publication that nothing needs, and that no reader may still ask for. With `follow` that is done by itself.
    ///
    /// - Parameters:
    ///   - grace: How long an object stays after the first head that does not need it.
    ///   - report: Told how many objects were removed, and how many stay, also where an error follows.
    /// - Returns: The same.
    public func prune(
        _ endpoint: Endpoint, after grace: Duration = Publishing().grace, _ link: LinkOptions = LinkOptions(),
        report: @Sendable (_ removed: Int, _ kept: Int) -> Void = { _, _ in }
    ) async throws(ShipmentError) -> (removed: Int, kept: Int) {
        try await withPublisher(at: endpoint, link) { try await $0.prune(after: grace, report: report) }
    }

    private func withPublisher<Result>(
        at endpoint: Endpoint, _ link: LinkOptions, _ body: (Publisher) async throws -> Result
    ) async throws(ShipmentError) -> Result {
        return try await ShipmentError.awaiting {
            let publisher = try await publisher(to: endpoint, link, Publishing()) { _ in }
            guard let publisher else { throw PublicationError.cannotPublish(endpoint) }
            return try await body(publisher)
        }
    }
}
