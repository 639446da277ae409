// Both sides of `Protocol/PAIRING.md`, over a link on which each knows the other's certificate, and not yet whether it is
// the right one.
public import DeviceTrust
import EssentialFoundation
import ShipProtocol
public import ShipStore
public import ShipTransport

extension Device {
    /// Trusts, as a receiver, the device that listens there and shows this code; it trusts this one, as a sender.
    ///
    /// - Throws: `.pairing`, errors of the link and of the list.
    public func pair(
        with endpoint: Endpoint, _ code: PairingCode, _ link: LinkOptions = LinkOptions(),
        _ timeouts: Timeouts = Timeouts()
    ) async throws(ShipmentError) -> TrustedPeer {
        let own = try identity()
        var link = link
        link.security = .mutualTLS(own) { _ in .full }
        do {
            return try await Connector.withLink(to: endpoint, link) { link in
                guard let other = link.device else { throw PairingError.notOpen }
                let initiator = try PairingInitiator(code, own: own.id, other: other)
                var reader = ExactReader(link.reader, within: timeouts.hello)
                try await link.writer.write(initiator.start, within: timeouts.hello)
                let answer = try await reader.next(PairingExchange.answerSize)
                let proof = try initiator.proof(for: answer, own: Self.ownName)
                try await link.writer.write(proof, within: timeouts.hello)
                let welcome = try await reader.next(PairingExchange.welcomeSize)
                guard welcome[0] == 0 else { throw PairingError.notOpen }
                let name = PairingExchange.name(try await reader.next(Int(welcome[1])), of: other)
                return try self.trust(other, as: .receiver, called: name)
            }
        } catch LinkError.closedByPeer {
            throw .pairing(.notOpen)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// The listener's side, when the other has begun to pair.
    func pair(
        over link: PeerLink, _ reader: consuming ExactReader, in window: PairingWindow, _ timeouts: Timeouts
    ) async throws -> TrustedPeer {
        let own = try identity()
        let start = try await reader.next(PairingExchange.startSize)
        guard let other = link.device, let trial = window.takeTry() else {
            try await link.writer.write(PairingExchange.refusal, within: timeouts.hello)
            throw PairingError.notOpen
        }
        // The try is used up from here on, whatever the other side does; and it lasts until the other side is trusted.
        defer { withExtendedLifetime(trial) {} }
        let responder = try PairingResponder(trial.code, start, own: own.id, other: other)
        try await link.writer.write(responder.answer, within: timeouts.hello)
        let proof: [UInt8]
        do {
            proof = try await reader.next(PairingExchange.proofSize)
        } catch LinkError.closedByPeer {
            // It had another code than this side, and goes.
            throw PairingError.wrongCode
        }
        let name = try await reader.next(Int(proof[PairingExchange.proofSize - 1]))
        let welcome = try responder.welcome(for: proof, own: Self.ownName)
        guard window.close() else {
            try await link.writer.write(PairingExchange.refusal, within: timeouts.hello)
            throw PairingError.notOpen
        }
        let peer = try trust(other, as: .sender, called: PairingExchange.name(name, of: other))
        try await link.writer.write(welcome, within: timeouts.hello)
        return peer
    }

    private func trust(
        _ id: DeviceIdentifier, as role: TrustedPeer.Role, called name: PeerName
    ) throws(ShipmentError) -> TrustedPeer {
        do {
            return try folder.trust(id, as: role, called: name, at: Timestamp(Date()))
        } catch {
            throw ShipmentError(error)
        }
    }

    /// What others are to call this device, as far as it says.
    private static var ownName: PeerName {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return PeerName(String(host)) ?? PeerName(standing: "device")
    }
}

extension Consumer {
    /// What a connection of a listener turned out to be.
    enum Visit {
        case paired(TrustedPeer)
        case session(PeerLink)
    }

    /// Pairs if that is what the other side is here for, and hands the link on if not.
    ///
    /// - Throws: Among others, `.link(.notTrusted)` if the other side may do nothing but pair, and does not.
    func receive(_ link: PeerLink, in window: PairingWindow, on device: Device) async throws(ShipmentError) -> Visit {
        do {
            var reader = ExactReader(link.reader, within: options.timeouts.hello)
            guard try await reader.begins(with: PairingExchange.magic) else {
                // Whoever is here to pair alone is told nothing, not even that they are refused.
                _ = try options.trust.stores(of: link, as: .sender)
                return .session(link.begun(with: reader.rest))
            }
            return .paired(try await device.pair(over: link, reader, in: window, options.timeouts))
        } catch {
            throw ShipmentError(error)
        }
    }
}

/// Reads as many bytes as are asked for, whatever pieces they come in.
struct ExactReader {
    private var reader: LinkReader
    private let deadline: ContinuousClock.Instant
    private var waiting: [UInt8] = []

    /// - Parameter limit: How long all that is read may take to come.
    init(_ reader: LinkReader, within limit: Duration) {
        self.reader = reader
        deadline = .now + limit
    }

    /// What has come and was not asked for.
    var rest: [UInt8] { waiting }

    mutating func next(_ count: Int) async throws -> [UInt8] {
        try await fill(count)
        guard waiting.count >= count else { throw LinkError.closedByPeer }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// Whether the first thing to come is this; it stays to be read.
    mutating func begins(with bytes: [UInt8]) async throws -> Bool {
        try await fill(bytes.count)
        return waiting.starts(with: bytes)
    }

    private mutating func fill(_ count: Int) async throws {
        while waiting.count < count {
            guard let piece = try await reader.next(within: max(.zero, deadline - .now)) else { return }
            waiting += piece
        }
    }
}
