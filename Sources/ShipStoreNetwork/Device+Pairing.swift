// Both sides of `Protocol/PAIRING.md`, over a link on which each side knows the other's certificate, but not yet whether it is the
// right device's.
public import DeviceTrust
import EssentialFoundation
import ShipProtocol
public import ShipStore
public import ShipTransport

extension Device {
    /// Trusts the device that listens there and shows this code, and is trusted by it in the other role.
    ///
    /// - Parameters:
    ///   - role: What that device is to be trusted as: a receiver, if this one sends.
    ///   - name: What to call that device; `nil` for what it calls itself.
    /// - Throws: `.pairing`, errors of the link and of the list.
    public func pair(
        with endpoint: Endpoint, _ code: PairingCode, trustingAs role: TrustedPeer.Role = .receiver,
        calling name: PeerName? = nil,
        _ link: LinkOptions = LinkOptions(),
        _ timeouts: Timeouts = Timeouts()
    ) async throws(ShipmentError) -> TrustedPeer {
        do {
            let own = try await BlockingExecutor.run { try identity() }
            var link = link
            link.security = .mutualTLS(own) { _ in .full }
            return try await PeerLink.withLink(to: endpoint, link) { link in
                guard let other = link.device else { throw PairingError.notOpen }
                guard other != own.id else { throw TrustListError.isThisDevice }
                let initiator = try PairingInitiator(code, own: own.id, other: other, trustedAs: role)
                var reader = ExactReader(link.reader, within: timeouts.hello)
                try await link.writer.write(initiator.start, within: timeouts.hello)
                let answer: [UInt8]
                do {
                    answer = try await reader.next(PairingExchange.answerSize)
                } catch LinkError.closedByPeer {
                    throw PairingError.notOpen
                }
                // It greets as a receiver does that waits for shipments alone.
                guard !Preamble.mayBegin(answer) else { throw PairingError.notOpen }
                let proof = try initiator.proof(for: answer, own: Self.ownName)
                try await link.writer.write(proof, within: timeouts.hello)
                // Where the link ends here, it has the code, and cannot keep whom it trusts: it says why.
                let welcome = try await reader.next(PairingExchange.welcomeSize)
                guard welcome[0] == PairingExchange.accepted else { throw PairingError.notOpen }
                let ownName = PairingExchange.name(try await reader.next(Int(welcome[1])), of: other)
                return try await BlockingExecutor.run {
                    try self.folder.trust(other, as: role, called: name ?? ownName, at: Timestamp(Date()))
                }
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// The listener's side, once the other side has begun to pair.
    func pair(
        over link: PeerLink, _ reader: consuming ExactReader, in window: PairingWindow,
        trustingAs role: TrustedPeer.Role, _ timeouts: Timeouts
    ) async throws -> TrustedPeer {
        let own = try await BlockingExecutor.run { try identity() }
        let start = try await reader.next(PairingExchange.startSize)
        guard let other = link.device, let trial = window.takeTry() else {
            try await link.writer.write(PairingExchange.refusal, within: timeouts.hello)
            throw PairingError.notOpen
        }
        // The try counts from here on, whatever the other side does; it lasts until this device trusts the other side.
        defer { withExtendedLifetime(trial) {} }
        let responder = try PairingResponder(trial.code, start, own: own.id, other: other, trustedAs: role)
        try await link.writer.write(responder.answer, within: timeouts.hello)
        let proof: [UInt8]
        do {
            proof = try await reader.next(PairingExchange.proofSize)
        } catch LinkError.closedByPeer {
            // It has another code, and has left.
            throw PairingError.wrongCode
        }
        let proposed = try await reader.next(Int(proof[PairingExchange.proofSize - 1]))
        let welcome = try responder.welcome(for: proof, own: Self.ownName)
        guard window.close() else {
            try await link.writer.write(PairingExchange.refusal, within: timeouts.hello)
            throw PairingError.notOpen
        }
        let name = window.name ?? PairingExchange.name(proposed, of: other)
        let peer: TrustedPeer
        do {
            peer = try await BlockingExecutor.run {
                try folder.trust(other, as: role, called: name, at: Timestamp(Date()))
            }
        } catch {
            window.reopen()
            throw error
        }
        try await link.writer.write(welcome, within: timeouts.hello)
        return peer
    }

    /// The name that this device proposes for itself.
    private static var ownName: PeerName {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return PeerName(String(host)) ?? PeerName(standing: "device")
    }
}

/// Reads exact numbers of bytes from the pieces of a link.
struct ExactReader {
    private let reader: any LinkReader
    private let deadline: ContinuousClock.Instant
    private var waiting: [UInt8] = []

    /// - Parameter limit: How long all reads together may take.
    init(_ reader: any LinkReader, within limit: Duration) {
        self.reader = reader
        deadline = .now + limit
    }

    /// The bytes that have come and are not read yet.
    var rest: [UInt8] { waiting }

    mutating func next(_ count: Int) async throws -> [UInt8] {
        try await fill(count)
        guard waiting.count >= count else { throw LinkError.closedByPeer }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// Whether these bytes come next. They stay unread.
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
