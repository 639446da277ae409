import ShipLinks
import ShipProtocol
import StoreEncoding
import StoreInbox
import StoreServing
import Synchronization

/// A session's conversation with the producer, which two tasks share: the one that receives, and the one that follows the list of trusted
/// devices.
final class ConsumerConversation: Sendable {
    let link: PeerLink
    let greeting: ConsumerSession.Greeting
    let authorization: SessionAuthorization
    let writer: FrameWriter
    private let knownMode = Mutex<Preamble.Mode?>(nil)
    private let hasRefused = Atomic(false)
    /// The holdings that the greeting has told the producer, and those that have been installed since.
    let holdings = Mutex(Holdings())
    private let clock: DecodingClock

    init(
        over link: PeerLink, _ greeting: ConsumerSession.Greeting, _ authorization: SessionAuthorization,
        _ timeouts: Timeouts, _ limits: CheckLimits
    ) {
        (self.link, self.greeting, self.authorization) = (link, greeting, authorization)
        writer = FrameWriter(link.writer, timeouts)
        clock = DecodingClock(limit: limits.time)
    }

    /// Another shipment may follow in a session that stays, which has no end: what was known of the last one does not count.
    func reopen() throws(ShipmentError) {
        clock.beginAnew()
        try authorization.reopen()
    }

    /// Of the decoders of all shipments. A sender that ends its side of a two-way link before the last receipt has gone.
    var decoding: DecodingLimits {
        DecodingLimits(clock: clock) { [reader = link.reader, isTwoWay = mode == .twoWay] in
            try Task.checkCancellation()
            if isTwoWay, reader.hasEnded { throw SenderGone() }
        }
    }

    /// How the producer speaks; `nil` before its preamble has come.
    var mode: Preamble.Mode? { knownMode.withLock { $0 } }

    /// - Returns: Whether the preamble has come just now.
    /// - Throws: If the producer may not go on.
    func begins(in mode: Preamble.Mode?) throws(ShipmentError) -> Bool {
        guard mode != nil, self.mode == nil else { return false }
        knownMode.withLock { $0 = mode }
        try authorization.check()
        return true
    }

    /// Tells the producer what ends the session: once, and only if it may read that.
    @Sendable func refuse(_ failure: ShipmentError) async {
        guard let reason = failure.refusal, greeting != .never, mode == .twoWay || greeting == .atOnce,
            !hasRefused.exchange(true, ordering: .relaxed)
        else { return }
        guard (try? await writer.begin(as: .consumer, .twoWay)) != nil else { return }
        await writer.sendLast(.refusal(reason))
    }
}
