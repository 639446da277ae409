import ShipLinks
public import ShipProtocol
import Synchronization

/// What happens while a consumer receives, and in which session.
public struct ReceiveReport: Hashable, Sendable {
    public let event: ReceiveEvent
    /// `nil` for what concerns the listener itself, and whoever does not get as far as a session.
    public let session: Session?

    package init(_ event: ReceiveEvent, in session: Session? = nil) {
        self.event = event
        self.session = session
    }

    /// One link, from its opening to a receipt or a failure. Several may be open side by side.
    public struct Session: Hashable, Sendable {
        /// From 1 on, in the order in which the sessions of a consumer began.
        public let number: Int
        /// Who is at the other end.
        public let peer: String
        /// The name under which the shipment comes, from `.offered` to `.finished` or `.failed`.
        public fileprivate(set) var name: StoreName?
    }
}

/// Tells what happens in one session.
package final class SessionReport: Sendable {
    private let session: Mutex<ReceiveReport.Session>
    private let report: @Sendable (ReceiveReport) -> Void

    init(_ number: Int, with peer: PeerLink.Peer, _ report: @escaping @Sendable (ReceiveReport) -> Void) {
        session = Mutex(ReceiveReport.Session(number: number, peer: "\(peer)"))
        self.report = report
    }

    @Sendable package func add(_ event: ReceiveEvent) {
        let session = session.withLock { session in
            switch event {
            case .offered(let manifest): session.name = manifest.name
            // What comes next is no affair of that shipment.
            case .finished, .failed:
                defer { session.name = nil }
                return session
            default: break
            }
            return session
        }
        report(ReceiveReport(event, in: session))
    }
}
