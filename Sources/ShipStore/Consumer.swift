public import DeviceTrust
package import ShipCompression
public import ShipProtocol
public import ShipTransport
public import StoreInbox
import StoreInstall
public import StoreServing
import Synchronization
public import SystemPackage

/// The companion's side: receives shipments into an inbox, which it owns for as long as it lives.
///
///     link -> FrameParser -> PartDecoder -> StagedGeneration -> StoreCheck -> Installer -> StoreCoordinator
public final class Consumer: Sendable {
    public struct Options: Sendable {
        public var timeouts = Timeouts()
        public var link = LinkOptions()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// What becomes of shipments that no device has signed.
        public var unsigned = UnsignedShipments.asCarried
        /// How many generations of each store stay, the current one included.
        public var kept = 3
        /// Those beyond that number stay for this long after they were installed; `nil` for not at all.
        public var keptFor: Duration?
        /// How much a shipment may bring.
        public var budget = ShipmentBudget()
        /// Bytes that an installation leaves free on the disk.
        public var keptFree: Int64 = 1_000_000
        /// Names under which one shipment each may bring another store than the one that is held.
        public var replacing: Set<StoreName> = []
        /// What becomes of a store without a row that comes in place of one with rows and without an identity.
        public var emptied = Succession.Emptied.refused
        /// What a shipment must be to be let in.
        public var requirements = StoreRequirements()
        /// How the store of a shipment is checked before it is installed.
        public var checking = CheckOptions()
        /// Questions that the store of a shipment must answer with yes before it becomes current.
        public var probes: [StoreProbe] = []
        /// What makes stores from their rows.
        package var codec: ColumnsCodec? = .standard

        public init() {}
    }

    public let inbox: Inbox
    /// Serves what is installed, from the moment at which it is.
    public let coordinator: StoreCoordinator

    private let installer: Installer
    private let turns = StoreTurns()
    /// How many have begun.
    private let sessions = Atomic(0)
    let options: Options

    /// Makes the inbox if it is not there, takes it over, and sweeps what a killed consumer left.
    ///
    /// - Throws: `ShipmentError.install(.inboxInUse)` if another consumer has it.
    public init(inbox root: FilePath, options: Options = Options()) throws(ShipmentError) {
        inbox = Inbox(at: root)
        coordinator = StoreCoordinator(inbox: root)
        self.options = options
        do throws(InboxError) {
            installer = try Installer(
                inbox: inbox, keeping: Retention(count: options.kept, duration: options.keptFor),
                leavingFree: options.keptFree, replacing: Replacements(of: options.replacing),
                emptied: options.emptied)
        } catch {
            throw .install(error)
        }
    }

    /// Receives the shipments that an endpoint has.
    ///
    /// - Returns: The receipts: what came is installed, durable and current.
    /// - Throws: Why the first one that failed did. The others are installed all the same; `report` has been told of each.
    public func receive(
        from endpoint: Endpoint, report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        do {
            return try await Connector.withLink(from: endpoint, try linkOptions(for: endpoint)) { link in
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

    private func receive(
        over link: Link, _ greeting: ConsumerSession.Greeting, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws(ShipmentError) -> [Receipt] {
        let told = nextSession(link, report)
        let outcome: ConsumerSession.Outcome
        do throws(ShipmentError) {
            outcome = try await session(link, greeting, told) {}
        } catch {
            told.add(.failed(error))
            throw error
        }
        if let failure = outcome.failures.first { throw failure }
        return outcome.receipts
    }

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
    ///   - window: While it is open, a device that has its code is trusted from then on, and may ship.
    ///   - report: Told what happens in each session.
    /// - Throws: If it cannot listen; with `.once`, also why the shipment did not arrive; `.pairing(.over)` if nobody has
    ///   paired in time, and nobody is trusted.
    public func listen(
        on address: Endpoint, _ persistence: Persistence = .untilCancelled, pairingIn window: PairingWindow? = nil,
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let first = persistence == .once ? FirstShipment() : nil
        let options = try listenerOptions(for: address, pairingIn: window, report)
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
        _ link: Link, _ window: PairingWindow?, _ first: FirstShipment?,
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

    /// How often it is looked whether what waits may still wait.
    private static let lookingAfterWaiting = Duration.seconds(60)

    /// What waits for the rest goes after a day, and with the trust in its sender.
    private func removeUnwelcome() {
        installer.waiting.removeOver()
        // A list that cannot be read says nothing: sessions are told.
        guard let list = try? options.trust.list() else { return }
        let own = try? options.trust.ownIdentifier()
        installer.waiting.removeAll { name, record in
            guard let id = record.producer.flatMap({ DeviceIdentifier(bytes: $0.bytes) }) else { return false }
            return id != own && list.stores(of: id, as: .sender)?.contains(name) != true
        }
    }

    private func linkOptions(for endpoint: Endpoint) throws(ShipmentError) -> LinkOptions {
        var link = options.link
        if case .tcp = endpoint { link.security = try options.trust.security(of: .sender) }
        return link
    }

    /// - Throws: Among others, what is wrong with the list of trusted devices.
    private func listenerOptions(
        for endpoint: Endpoint, pairingIn window: PairingWindow?, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) throws(ShipmentError) -> LinkOptions {
        var link = options.link
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

    private func nextSession(
        _ link: Link, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) -> SessionReport {
        SessionReport(sessions.wrappingAdd(1, ordering: .relaxed).newValue, with: link.peer, report)
    }

    private func session(
        _ link: Link, _ greeting: ConsumerSession.Greeting, _ told: SessionReport,
        whenBegun: @escaping @Sendable () throws -> Void
    ) async throws(ShipmentError) -> ConsumerSession.Outcome {
        told.add(.connected("\(link.peer)"))
        removeUnwelcome()
        if link.peer == .standardStreams { told.add(.reading(link.medium == .file ? .file : .stream)) }
        let session = ConsumerSession(
            judgement: SenderJudgement(trust: options.trust, unsigned: options.unsigned), installer: installer,
            coordinator: coordinator, turns: turns, budget: options.budget, requirements: options.requirements,
            checking: options.checking, probes: ProbeRun(options.probes), codec: options.codec,
            timeouts: options.timeouts, whenBegun: whenBegun, report: told.add)
        do {
            return try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await session.run(link, greeting: greeting)
            }
        } catch {
            throw ShipmentError(error, from: link.medium)
        }
    }
}

/// What ends the waiting for an open window when nobody listens any more.
private struct ListeningIsOver: Error {}
