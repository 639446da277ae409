public import ShipStore
public import ShipTransport
import Synchronization

extension Producer {
    /// Accepts connections of receivers, and ships them the stores that each may have. One copy is taken for each state of a store, however
    /// many receivers there are.
    ///
    /// - Parameters:
    ///   - address: With port 0 the system chooses one. TCP is for trusted receivers; with `TrustPolicy.localPrograms` for every program of
    ///     this machine.
    ///   - following: Ships each settled change, too, to receivers that wait for it; `nil` to ship to each receiver what there is when it
    ///     connects.
    ///   - window: While it is open, this device trusts a device that has its code, which may then be shipped to.
    /// - Throws: What is wrong with a store at the start; `.noReceiver` if no device is trusted as a receiver; if it cannot listen; with
    ///   `.once`, also why a shipment did not arrive; `.pairing(.over)` if no device has paired in time, and none is trusted.
    public func listen(
        on address: Endpoint, following: Following? = nil, _ persistence: Persistence = .untilCancelled,
        _ link: LinkOptions = LinkOptions(), pairingIn window: PairingWindow? = nil,
        report: @escaping @Sendable (SendReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let first = persistence == .once ? FirstSession() : nil
        do throws(ShipmentError) {
            try await ShipmentError.awaiting {
                if case .tcp = address, window == nil, let list = try options.trust.list(), !list.hasAny(as: .receiver)
                {
                    throw ShipmentError.noReceiver
                }
                let stores = try WatchedStores(
                    of: self, following ?? Following(), isShared: true,
                    before: following.flatMap { WatchedStores.recentBases(of: self, $0) }
                ) { report(SendReport($0)) }
                try reportMissing { report(SendReport($0)) }
                let service = Service(
                    producer: self, at: address.nameInMemory, following: following, stores: stores, report: report)
                let listener = SessionListener(
                    role: .receiver, trust: options.trust, window: window, timeouts: options.timeouts,
                    place: self.stores.first ?? "."
                ) { report(SendReport(.listener($0))) }
                try await stores.whileFollowed {
                    try await listener.serve(on: address, link) { await service.serve($0, first) }
                }
            }
        } catch {
            // A session that has come to its end counts, also where the listener is stopped meanwhile.
            guard let first else { throw error }
            try first.checkResult(or: error)
        }
        try first?.checkResult()
    }
}

/// Ships stores to the receivers that connect.
private final class Service: Sendable {
    private let producer: Producer
    /// Where it listens. What another listener has sent says nothing of the receivers here.
    private let address: String
    private let following: Following?
    private let stores: WatchedStores
    private let report: @Sendable (SendReport) -> Void
    private let sessions = Atomic(0)
    /// The receivers without an id that are connected. A process that connects again gets a new port, and has to be known by another name.
    private let places = Mutex<Set<Int>>([])

    init(
        producer: Producer, at address: String, following: Following?, stores: WatchedStores,
        report: @escaping @Sendable (SendReport) -> Void
    ) {
        (self.producer, self.address) = (producer, address)
        (self.following, self.stores, self.report) = (following, stores, report)
    }

    /// Ships to one receiver.
    ///
    /// - Returns: Whether more connections are to come.
    func serve(_ link: PeerLink, _ first: FirstSession?) async -> Bool {
        let session = Session(
            SendReport.Session(
                number: sessions.wrappingAdd(1, ordering: .relaxed).newValue, peer: "\(link.peer)"), first, report)
        let place = link.device == nil ? takePlace() : nil
        defer { if let place { places.withLock { _ = $0.remove(place) } } }
        let result: Result<Void, ShipmentError>
        do throws(ShipmentError) {
            let failure = try await ship(over: link, to: place.map { "receiver \($0) at \(address)" }, session)
            result = failure.map(Result.failure) ?? .success(())
        } catch {
            guard session.isConnected else {
                report(SendReport(.listener(.turnedAway("\(link.peer)", error))))
                return true
            }
            if error != .stopped { session.add(.disconnected(error)) }
            result = .failure(error)
        }
        // Another receiver than the first ends nothing, however its session went.
        guard let first, first.isClaimed(by: session) else { return true }
        first.end(result)
        return false
    }

    private func takePlace() -> Int {
        places.withLock { places in
            let place = (1...).first { !places.contains($0) } ?? 0
            places.insert(place)
            return place
        }
    }

    /// - Returns: Why the first store that did not arrive did not.
    /// - Throws: Why the session broke off.
    private func ship(
        over link: PeerLink, to receiver: String?, _ session: Session
    ) async throws(ShipmentError) -> ShipmentError? {
        let trust = producer.options.trust
        return try await ShipmentError.awaiting {
            // Who has none is told why in the session.
            let allowed = try? trust.stores(of: link, as: .receiver)
            let follower = StoreFollower(
                producer, following ?? Following(), stores, only: { allowed?.contains($0) == true },
                report: session.add)
            return try await follower.session(over: link, with: receiver, staying: following != nil)
        }
    }

    /// The facts about one receiver's connection.
    private final class Session: Sendable {
        private let session: SendReport.Session
        private let first: FirstSession?
        private let report: @Sendable (SendReport) -> Void
        private let hasGreeted = Atomic(false)

        init(
            _ session: SendReport.Session, _ first: FirstSession?, _ report: @escaping @Sendable (SendReport) -> Void
        ) {
            (self.session, self.first, self.report) = (session, first, report)
        }

        var isConnected: Bool { hasGreeted.load(ordering: .relaxed) }

        @Sendable func add(_ event: SendEvent) {
            if case .connected = event {
                hasGreeted.store(true, ordering: .relaxed)
                try? first?.claim(for: self)
            }
            report(SendReport(event, in: session))
        }
    }
}
