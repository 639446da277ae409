public import DeviceTrust
import ShipLinks
public import ShipProtocol
public import StoreServing
import Synchronization

/// An event while a consumer receives, and its session.
public struct ReceiveReport: Hashable, Sendable {
    public let event: ReceiveEvent
    /// `nil` for events of the listener itself, and of connections that do not reach a session.
    public let session: Session?

    package init(_ event: ReceiveEvent, in session: Session? = nil) {
        self.event = event
        self.session = session
    }

    /// One link, from its opening to a receipt or a failure. Several may be open side by side.
    public struct Session: Hashable, Sendable {
        /// From 1 on, in the order in which the sessions of a consumer began.
        public let number: Int
        /// The peer.
        public let peer: String
        /// The name under which the shipment comes, from `.offered` to `.finished` or `.failed`.
        public fileprivate(set) var name: StoreName?
        /// Bytes on the wire, from the sender: since the shipment before, or since the link was opened.
        package fileprivate(set) var bytesReceived: Int64 = 0
    }
}

/// Reports the events of one session.
package final class SessionReport: Sendable {
    private let session: Mutex<ReceiveReport.Session>
    private let firstFailure = Mutex<ShipmentError?>(nil)
    private let report: @Sendable (ReceiveReport) -> Void

    init(_ number: Int, with peer: PeerLink.Peer, _ report: @escaping @Sendable (ReceiveReport) -> Void) {
        session = Mutex(ReceiveReport.Session(number: number, peer: "\(peer)"))
        self.report = report
    }

    /// Why the first shipment that failed did, or else the session: who waits for all of it is told this one.
    package var failure: ShipmentError? { firstFailure.withLock(\.self) }

    @Sendable package func add(_ event: ReceiveEvent) {
        if case .failed(let error) = event { firstFailure.withLock { $0 = $0 ?? error } }
        let session = session.withLock { session in
            switch event {
            case .offered(let manifest): session.name = manifest.name
            // The following events do not belong to that shipment.
            case .finished, .failed:
                defer { (session.name, session.bytesReceived) = (nil, 0) }
                return session
            default: break
            }
            return session
        }
        report(ReceiveReport(event, in: session))
    }

    /// A store is refused before anything of it has come.
    func refuse(_ name: StoreName, _ error: ShipmentError) {
        session.withLock { $0.name = name }
        add(.failed(error))
    }

    /// So many bytes have come.
    @Sendable func count(_ bytes: Int) { session.withLock { $0.bytesReceived += Int64(bytes) } }
}

/// An event while a consumer receives.
public enum ReceiveEvent: Hashable, Sendable {
    /// An event of the listener.
    case listener(ListenerEvent)
    case connected(String)
    /// A shipment comes from the standard input, which is of this kind.
    case reading(StandardInput)
    case offered(Manifest)
    /// This device has signed what was offered.
    case signed(by: DeviceIdentifier)
    /// The store has this one of the required models.
    case admitted(model: ForeignText)
    /// Decoded bytes of the parts: so far, and in all.
    case progress(done: Int64, total: Int64)
    /// A part is resumed where an earlier session left it: decoded bytes as in `progress`.
    case wentOn(done: Int64, total: Int64)
    /// All bytes have come: they are synced, read back and checked.
    case verifying
    /// The store is sound, and matches its manifest.
    case checked(CheckReport)
    /// The store could not be made from its rows: the consumer asks for it in blocks.
    case askedAgain
    case finished(Receipt, Duration)
    /// The publisher of a store has halted it at this time, by its clock: it stays as it is.
    case halted(StoreName, since: Timestamp)
    /// A newer state of a store is being rolled out, and is for this receiver from this time on; `nil` if nobody has said when.
    case waiting(StoreName, until: Timestamp?)
    /// A sender that stays has gone without a word, or this side is told to stop, while no shipment was under way.
    case disconnected(ShipmentError)
    case failed(ShipmentError)
}

/// The kind of a process's standard input.
public enum StandardInput: String, Hashable, Sendable {
    /// A file, or a device: its content may be of any origin and age.
    case file
    /// A pipe or a socket: a sender writes to it now.
    case stream
}
