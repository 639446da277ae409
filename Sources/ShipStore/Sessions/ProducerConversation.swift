import ShipProtocol
import Synchronization

/// What the task that sends and the task that listens both know.
final class ProducerConversation: Sendable {
    /// The consumer does not take what is being sent.
    struct Dropped: Error {}

    private struct State {
        var dialogue: ProducerDialogue
        /// When the listener gives up, whatever it hears.
        var deadline: FrameReader.Deadline?
        /// Why the sending ended early, if it did.
        var failure: (any Error)?
        /// Of the shipment at hand.
        var sentStore: SentStore?
    }

    private let state: Mutex<State>

    init(_ dialogue: ProducerDialogue) { state = Mutex(State(dialogue: dialogue)) }

    var deadline: FrameReader.Deadline? { state.withLock { $0.deadline } }
    var failure: (any Error)? { state.withLock { $0.failure } }
    var isAwaiting: Bool { state.withLock { $0.dialogue.isAwaiting } }

    /// Whether CANCEL of the shipment would not come too late.
    var mayCancel: Bool { state.withLock { $0.dialogue.mayCancel } }
    /// Whether CANCEL of the session would not.
    var mayCancelSession: Bool { state.withLock { $0.dialogue.mayCancelSession } }

    func receive(_ element: FrameParser.Element) throws(ProtocolError) -> ProducerDialogue.Action? {
        try state.withLock { state throws(ProtocolError) in try state.dialogue.receive(element) }
    }

    func offered(_ manifest: Manifest) throws(BrokenInvariant) {
        try state.withLock { state throws(BrokenInvariant) in
            try state.dialogue.offered(manifest)
            state.sentStore = nil
        }
    }

    func base(of manifest: Manifest, remembering contents: [ManifestContent]) -> ManifestContent? {
        state.withLock { $0.dialogue }.base(of: manifest, remembering: contents)
    }

    func unfinished(_ name: StoreName) -> ManifestContent.ID.Start? {
        state.withLock { $0.dialogue }.unfinished(name)
    }

    /// How the store of the shipment at hand went, as far as it went.
    var sentStore: SentStore? { state.withLock { $0.sentStore } }

    func sent(_ store: SentStore?) {
        guard let store else { return }
        state.withLock { $0.sentStore = store }
    }

    func beginSending() { state.withLock { ($0.deadline, $0.failure) = (nil, nil) } }

    func opened(part index: Int, _ encoding: PartEncoding) -> Bool {
        state.withLock { $0.dialogue.opened(part: index, encoding) }
    }

    /// - Throws: `Dropped`.
    func checkMaySend() throws {
        if !state.withLock({ $0.dialogue.maySend }) { throw Dropped() }
    }

    /// - Throws: `Dropped`, and then END must not go.
    func sentAll() throws {
        if !state.withLock({ $0.dialogue.sentAll() }) { throw Dropped() }
    }

    /// The answer to END must be here in this time.
    func limit(_ patience: Duration) {
        state.withLock {
            $0.deadline = FrameReader.Deadline(end: .now + patience, error: .overdue(.receipt(patience)))
        }
    }

    func fail(_ error: any Error, waiting patience: Duration) {
        state.withLock {
            $0.failure = error
            $0.deadline = FrameReader.Deadline(end: .now + patience, error: ShipmentError(error))
        }
    }

    func cancelled() { state.withLock { $0.dialogue.cancelled() } }
    func finish() { state.withLock { $0.dialogue.finished() } }
}
