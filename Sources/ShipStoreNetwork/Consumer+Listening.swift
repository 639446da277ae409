public import DeviceTrust
public import ShipStore
public import ShipTransport
import Synchronization

extension Consumer {
    /// How long `listen` goes on.
    public enum Persistence: Hashable, Sendable {
        case untilCancelled
        /// Until one session is over, well or not, that somebody has begun who may ship. Whoever only connects, pairs, or may
        /// not ship, does not end it.
        case once
    }

    /// Accepts connections, and receives what comes over each; shipments of different stores side by side.
    ///
    /// - Parameters:
    ///   - address: Where; a port of 0 lets the system choose one.
    ///   - persistence: For how long.
    ///   - link: How many connections there may be, and of whom.
    ///   - window: While it is open, a device that has its code is trusted from then on, and may ship.
    ///   - report: Told what happens in each session.
    /// - Throws: If it cannot listen; with `.once`, also why the shipment did not arrive; `.pairing(.over)` if nobody has
    ///   paired in time, and nobody is trusted.
    public func listen(
        on address: Endpoint, _ persistence: Persistence = .untilCancelled, _ link: LinkOptions = LinkOptions(),
        pairingIn window: PairingWindow? = nil,
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let first = persistence == .once ? FirstShipment() : nil
        let options = try listenerOptions(link, for: address, pairingIn: window, report)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    guard let window, case .trustedPeers(let device) = self.options.trust else { return }
                    await window.waitUntilOver()
                    if !Task.isCancelled, try device.trustList().isEmpty { throw PairingError.over }
                }
                group.addTask {
                    while !Task.isCancelled {
                        try await Task.sleep(for: Self.lookingAfterWaiting)
                        self.removeUnwelcome()
                    }
                }
                group.addTask {
                    try await Listener.serve(
                        on: address, options,
                        onListening: { address in
                            report(ReceiveReport(.listening("\(address)")))
                            if let window { report(ReceiveReport(.pairing(window.code))) }
                        },
                        onTurnedAway: { report(ReceiveReport(.turnedAway("\($0)", .link($1)))) }
                    ) { link in
                        await self.visit(link, window, first, report)
                    }
                    throw ListeningIsOver()
                }
                while try await group.next() != nil {}
            }
        } catch is ListeningIsOver {
            try first?.end()
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Pairs, or receives shipments.
    private func visit(
        _ link: PeerLink, _ window: PairingWindow?, _ first: FirstShipment?,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async -> Listener.Sequel {
        var link = link
        do throws(ShipmentError) {
            if let window, case .trustedPeers(let device) = options.trust {
                switch try await receive(link, in: window, on: device) {
                case .session(let begun): link = begun
                case .paired(let peer):
                    report(ReceiveReport(.paired(peer)))
                    return .goOn
                }
            }
        } catch {
            report(ReceiveReport(.turnedAway("\(link.peer)", error)))
            return .goOn
        }
        let (claim, told) = (first.map(FirstShipment.Claim.init), nextSession(link, report))
        do throws(ShipmentError) {
            let outcome = try await session(link, .atOnce, told) { try claim?.make() }
            claim?.end(outcome.failures.first.map(Result.failure) ?? .success(()))
        } catch {
            guard claim?.isMade != false else {
                told.add(.turnedAway("\(link.peer)", error))
                return .goOn
            }
            told.add(.failed(error))
            claim?.end(.failure(error))
        }
        return claim == nil ? .goOn : .end
    }

    /// - Throws: Among others, what is wrong with the list of trusted devices.
    private func listenerOptions(
        _ link: LinkOptions, for endpoint: Endpoint, pairingIn window: PairingWindow?,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) throws(ShipmentError) -> LinkOptions {
        var link = link
        guard case .tcp = endpoint, case .trustedPeers(let device) = options.trust else { return link }
        let security = try ListenerSecurity(device, pairingIn: window)
        link.security = try security.next()
        link.securityOfEach = { peer in
            do {
                return try security.next()
            } catch {
                report(ReceiveReport(.turnedAway("\(peer)", ShipmentError(error))))
                throw error
            }
        }
        return link
    }
}

/// What ends the waiting for an open window when nobody listens any more.
private struct ListeningIsOver: Error {}

/// The one shipment that a listener is there for: the first that somebody begins who may.
final class FirstShipment: Sendable {
    private enum State {
        case awaited
        case underWay
        case over(Result<Void, ShipmentError>)
    }

    private let state = Mutex(State.awaited)

    /// What a session may come to have: the right to be that one.
    final class Claim: Sendable {
        private let shipment: FirstShipment
        private let made = Atomic(false)

        init(of shipment: FirstShipment) { self.shipment = shipment }

        var isMade: Bool { made.load(ordering: .relaxed) }

        /// - Throws: `.stopped` if another session was earlier: the listener takes no second shipment.
        func make() throws(ShipmentError) {
            let isFirst = shipment.state.withLock { state in
                guard case .awaited = state else { return false }
                state = .underWay
                return true
            }
            guard isFirst else { throw .stopped }
            made.store(true, ordering: .relaxed)
        }

        /// The session that has made it is over.
        func end(_ end: Result<Void, ShipmentError>) { shipment.state.withLock { $0 = .over(end) } }
    }

    /// - Throws: Why it did not arrive.
    func end() throws(ShipmentError) {
        if case .over(let end) = state.withLock({ $0 }) { try end.get() }
    }
}
