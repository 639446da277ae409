import DeviceTrust
import ShipProtocol
import ShipStore
import ShipTransport
import StoreFiles
import SystemPackage

/// Accepts connections for one side of shipments: lets those in that it may, lets devices pair, and gives each other link to a session.
struct SessionListener {
    /// The role in which those who connect have to be trusted.
    let role: TrustedPeer.Role
    let trust: TrustPolicy
    /// While it is open, this device trusts a device that has its code.
    let window: PairingWindow?
    let timeouts: Timeouts
    /// The place that cannot be opened where no descriptor is left.
    let place: FilePath
    let report: @Sendable (ListenerEvent) -> Void

    /// Serves until it is cancelled, or a session says that it was the last.
    ///
    /// - Parameters:
    ///   - beside: Runs meanwhile; what it throws ends the listener.
    ///   - session: Called for each link, in a task of its own; returns whether more are to come.
    /// - Throws: Why it cannot listen; `.pairing(.over)` if no device has paired in time, and this device trusts none; errors of the list of
    ///   trusted devices.
    func serve(
        on address: Endpoint, _ link: LinkOptions, beside: @escaping @Sendable () async throws -> Void = {},
        _ session: @escaping @Sendable (PeerLink) async -> Bool
    ) async throws {
        let options = try options(link, for: address)
        // Each task returns whether the listener is done.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                guard let window, case .trustedPeers(let device) = trust else { return false }
                await window.waitUntilOver()
                guard !Task.isCancelled, !window.hasPaired else { return false }
                if try !device.trustList().hasAny(as: role) { throw PairingError.over }
                return false
            }
            group.addTask {
                try await beside()
                return false
            }
            group.addTask {
                try await Listener.serve(
                    on: address, options,
                    onListening: { address in
                        report(.listening("\(address)"))
                        if let window { report(.pairing(window.code)) }
                    },
                    onTurnedAway: { report(.turnedAway("\($0)", .link($1))) }
                ) { link in
                    do throws(ShipmentError) {
                        guard let link = try await pairIfAsked(over: link) else { return true }
                        return await session(link)
                    } catch {
                        report(.turnedAway("\(link.peer)", error))
                        return true
                    }
                }
                return true
            }
            while let isDone = try await group.next(), !isDone {}
            try Task.checkCancellation()
        }
    }

    /// Pairs, if the other side begins to.
    ///
    /// - Returns: The link for a session if the other side does not pair; `nil` once it is paired.
    /// - Throws: Among others, `.link(.notTrusted)` if the other side may only pair, and does not.
    private func pairIfAsked(over link: PeerLink) async throws(ShipmentError) -> PeerLink? {
        guard let window, case .trustedPeers(let device) = trust else { return link }
        return try await ShipmentError.awaiting {
            var reader = ExactReader(link.reader, within: timeouts.hello)
            guard try await reader.begins(with: PairingExchange.magic) else {
                // A device that may only pair gets no answer, not even a refusal.
                _ = try trust.stores(of: link, as: role == .sender ? .relay : role)
                return link.prefixed(with: reader.rest)
            }
            report(.paired(try await device.pair(over: link, reader, in: window, trustingAs: role, timeouts)))
            return nil
        }
    }

    private func options(_ link: LinkOptions, for endpoint: Endpoint) throws(ShipmentError) -> LinkOptions {
        var link = link
        guard link.fit(into: PlatformCalls.freeDescriptors) else {
            throw .file(FileError(.open, place, .tooManyOpenFiles))
        }
        guard case .tcp = endpoint, case .trustedPeers(let device) = trust else { return link }
        // What a program of this machine may bring into an inbox, it may not take out of a store.
        let security = try ListenerSecurity(device, as: role, pairingIn: window, isAlwaysStrict: role == .receiver)
        link.security = try security.next()
        link.securityOfEach = { peer in
            do {
                return try security.next()
            } catch {
                report(.turnedAway("\(peer)", ShipmentError(error)))
                throw error
            }
        }
        return link
    }
}

extension LinkOptions {
    /// The descriptors of a session, with its checker, and those of a listener beside them: as counted in /proc/PID/fd.
    private static let descriptors = (ofSession: 15, ofListener: 16)

    /// So many connections that are not known yet have a descriptor before a second session has any: silent ones push nobody out.
    private static let fewHandshakes = 8

    /// Admits no more at a time than descriptors allow: the others wait, as they do where all places are taken.
    ///
    /// - Parameter free: How many descriptors there are for it.
    /// - Returns: Whether there is a place at all.
    mutating func fit(into free: Int) -> Bool {
        let free = free - Self.descriptors.ofListener
        // Those that are not known yet have one each.
        let kept = min(maximumHandshakes, max(Self.fewHandshakes, free / 8), max(0, free - Self.descriptors.ofSession))
        let places = min(maximumConnections, (free - kept) / Self.descriptors.ofSession)
        maximumHandshakes = min(maximumHandshakes, free - places * Self.descriptors.ofSession)
        maximumConnections = places
        return places > 0
    }
}
