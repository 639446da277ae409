public import ShipStore
public import ShipTransport

extension Consumer {
    /// Accepts connections, and receives shipments over each; those of different stores concurrently.
    ///
    /// - Parameters:
    ///   - address: With port 0 the system chooses one.
    ///   - window: While it is open, this device trusts a device that has its code, which may then ship.
    /// - Throws: If it cannot listen; with `.once`, also why the shipment did not arrive; `.pairing(.over)` if no device has
    ///   paired in time, and this device trusts none.
    public func listen(
        on address: Endpoint, _ persistence: Persistence = .untilCancelled, _ link: LinkOptions = LinkOptions(),
        pairingIn window: PairingWindow? = nil,
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let first = persistence == .once ? FirstSession() : nil
        let listener = SessionListener(
            role: .sender, trust: options.trust, window: window, timeouts: options.timeouts, place: inbox.root
        ) { report(ReceiveReport(.listener($0))) }
        do throws(ShipmentError) {
            try await ShipmentError.awaiting {
                try await listener.serve(on: address, link, beside: keepRemovingUnwelcome) { link in
                    await self.handle(link, first, report)
                }
            }
        } catch {
            // A session that has come to its end counts, also where the listener is stopped meanwhile.
            guard let first else { throw error }
            try first.checkResult(or: error)
        }
        try first?.checkResult()
    }

    /// Receives shipments.
    ///
    /// - Returns: Whether more connections are to come.
    private func handle(
        _ link: PeerLink, _ first: FirstSession?, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async -> Bool {
        let events = nextSession(link, report)
        do throws(ShipmentError) {
            _ = try await session(link, .atOnce, events) { try first?.claim(for: events) }
        } catch {
            guard first?.isClaimed(by: events) != false else {
                events.add(.listener(.turnedAway("\(link.peer)", error)))
                return true
            }
            events.add(.failed(error))
        }
        first?.end(events.failure.map(Result.failure) ?? .success(()))
        return first == nil
    }
}
