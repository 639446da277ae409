public import DeviceTrust
public import ShipStore
public import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage

extension Consumer {
    /// How long `listen` goes on.
    public enum Persistence: Hashable, Sendable {
        case untilCancelled
        /// Until the first session of a sender that may ship is over, successful or not. A peer that only connects, pairs, or may
        /// not ship does not count.
        case once
    }

    /// Accepts connections, and receives shipments over each; those of different stores concurrently.
    ///
    /// - Parameters:
    ///   - address: With port 0 the system chooses one.
    ///   - persistence: When to stop.
    ///   - link: The limits on connections.
    ///   - window: While it is open, this device trusts a device that has its code, which may then ship.
    ///   - report: Gets the events of each session.
    /// - Throws: If it cannot listen; with `.once`, also why the shipment did not arrive; `.pairing(.over)` if no device has
    ///   paired in time, and this device trusts none.
    public func listen(
        on address: Endpoint, _ persistence: Persistence = .untilCancelled, _ link: LinkOptions = LinkOptions(),
        pairingIn window: PairingWindow? = nil,
        report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let first = persistence == .once ? FirstShipment() : nil
        let options = try listenerOptions(link, for: address, pairingIn: window, report)
        do {
            // Each task returns whether the listener is done.
            try await withThrowingTaskGroup(of: Bool.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    guard let window, case .trustedPeers(let device) = self.options.trust else { return false }
                    await window.waitUntilOver()
                    if !Task.isCancelled, try device.trustList().isEmpty { throw PairingError.over }
                    return false
                }
                group.addTask {
                    while !Task.isCancelled {
                        self.removeUnwelcome()
                        try await Task.sleep(for: Self.lookingAfterWaiting)
                    }
                    return false
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
                        await self.handle(link, window, first, report)
                    }
                    return true
                }
                while let isDone = try await group.next(), !isDone {}
            }
        } catch {
            throw ShipmentError(error)
        }
        try first?.checkResult()
    }

    /// Pairs, or receives shipments.
    ///
    /// - Returns: Whether more connections are to come.
    private func handle(
        _ link: PeerLink, _ window: PairingWindow?, _ first: FirstShipment?,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async -> Bool {
        var link = link
        do throws(ShipmentError) {
            if let window, case .trustedPeers(let device) = options.trust {
                guard let session = try await pairIfAsked(over: link, in: window, on: device, report) else {
                    return true
                }
                link = session
            }
        } catch {
            report(ReceiveReport(.turnedAway("\(link.peer)", error)))
            return true
        }
        let events = nextSession(link, report)
        do throws(ShipmentError) {
            let outcome = try await session(link, .atOnce, events) { try first?.claim(for: events) }
            first?.end(outcome.failures.first.map(Result.failure) ?? .success(()))
        } catch {
            guard first?.isClaimed(by: events) != false else {
                events.add(.turnedAway("\(link.peer)", error))
                return true
            }
            events.add(.failed(error))
            first?.end(.failure(error))
        }
        return first == nil
    }

    /// - Throws: Among others, errors of the list of trusted devices.
    private func listenerOptions(
        _ link: LinkOptions, for endpoint: Endpoint, pairingIn window: PairingWindow?,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) throws(ShipmentError) -> LinkOptions {
        var link = link
        guard link.fitDescriptors() else { throw .install(.file(FileError(.open, inbox.root, .tooManyOpenFiles))) }
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

extension LinkOptions {
    /// What a session takes, with its checker, and what a listener takes beside them: as counted in /proc/PID/fd.
    private static let descriptors = (ofSession: 15, ofListener: 16)

    /// Admits no more at a time than descriptors allow: the others wait, as they do where all places are taken.
    ///
    /// - Returns: Whether there is a place at all.
    fileprivate mutating func fitDescriptors() -> Bool {
        let free = PlatformCalls.freeDescriptors - Self.descriptors.ofListener
        maximumConnections = min(maximumConnections, free / Self.descriptors.ofSession)
        // Those that are not known yet have one each.
        maximumHandshakes = max(1, min(maximumHandshakes, free - maximumConnections * Self.descriptors.ofSession))
        maximumHandshakesPerAddress = min(maximumHandshakesPerAddress, maximumHandshakes)
        return maximumConnections > 0
    }
}

/// The one shipment that a listener with `.once` waits for: the first one of a sender that may ship.
private final class FirstShipment: Sendable {
    /// The session that receives it, and the result once that session is over.
    private let state = Mutex<(session: SessionReport?, result: Result<Void, ShipmentError>?)>((nil, nil))

    /// - Throws: `.stopped` if a session has claimed the shipment already: the listener takes no second one.
    func claim(for session: SessionReport) throws(ShipmentError) {
        let isFirst = state.withLock { state in
            guard state.session == nil else { return false }
            state.session = session
            return true
        }
        guard isFirst else { throw .stopped }
    }

    func isClaimed(by session: SessionReport) -> Bool { state.withLock { $0.session === session } }

    func end(_ result: Result<Void, ShipmentError>) { state.withLock { $0.result = result } }

    /// - Throws: Why it did not arrive.
    func checkResult() throws(ShipmentError) { try state.withLock({ $0.result })?.get() }
}

/// Decides the security of each connection of a listener when it comes, from the current list of trusted devices.
///
/// The security only becomes stricter. A listener that started with an empty list serves its own machine until the list first changes;
/// from then on it speaks TLS, with trusted devices only, and stays so if the list becomes empty again.
private final class ListenerSecurity: Sendable {
    private let device: Device
    /// While it is open, an unknown device gets a link on which it can only pair.
    private let window: PairingWindow?
    /// The version of the list at the start.
    private let firstVersion: FileStatus?
    private let isStrict: Atomic<Bool>
    private let identity = Mutex<DeviceIdentity?>(nil)

    init(_ device: Device, pairingIn window: PairingWindow?) throws(ShipmentError) {
        (self.device, self.window) = (device, window)
        // Before the list is read: a change in between makes this listener stricter than necessary, never laxer.
        firstVersion = try device.trustListVersion()
        let isAlone = try device.trustList().isEmpty
        isStrict = Atomic(window != nil || !isAlone)
    }

    /// The security of a connection that comes now.
    func next() throws(ShipmentError) -> LinkSecurity {
        guard try isStrictNow() else { return .plainOnLoopback }
        return .mutualTLS(try ownIdentity()) { [window, folder = device.folder] id in
            let admittance = try TrustPolicy.admittance(of: id, as: .sender, folder)
            return admittance == .refused && window?.isOpen == true ? .toPair : admittance
        }
    }

    private func isStrictNow() throws(ShipmentError) -> Bool {
        if isStrict.load(ordering: .relaxed) { return true }
        // The list may be empty again after two changes.
        let isUnchanged = try device.trustListVersion() == firstVersion
        let isAlone = try device.trustList().isEmpty
        guard !isUnchanged || !isAlone else { return false }
        isStrict.store(true, ordering: .relaxed)
        return true
    }

    private func ownIdentity() throws(ShipmentError) -> DeviceIdentity {
        if let known = identity.withLock({ $0 }) { return known }
        let own = try device.identity()
        identity.withLock { $0 = own }
        return own
    }
}

extension TrustPolicy {
    /// The security of a TCP link to a peer of this role. A listener asks `ListenerSecurity`, for each connection.
    func security(of role: TrustedPeer.Role) throws(ShipmentError) -> LinkSecurity {
        guard case .trustedPeers(let device) = self, try !device.trustList().isEmpty else { return .plainOnLoopback }
        return .mutualTLS(try device.identity()) { [folder = device.folder] in
            try Self.admittance(of: $0, as: role, folder)
        }
    }

    /// What the current list allows a device.
    static func admittance(
        of id: DeviceIdentifier, as role: TrustedPeer.Role, _ folder: DeviceFolder
    ) throws -> LinkSecurity.Admittance {
        let isKnown = try folder.trustList().stores(of: id, as: role) != nil
        return try isKnown || id == folder.existingIdentity()?.id ? .full : .refused
    }
}
