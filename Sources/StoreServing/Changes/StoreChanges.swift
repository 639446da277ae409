import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// The changes of a coordinator's stores, from the moment at which this value was made, as they happen and without end.
///
/// A subscriber that asks late gets one change for each store: from the generation that it was told of last, to the newest. Each
/// value is for one task; another one makes its own.
public struct StoreChanges: AsyncSequence, Sendable {
    public typealias Element = StoreChange
    public typealias Failure = Never

    private let subscription: Subscription

    /// The generations that were current as this value was made, which are no change: the stores of an inbox, sorted by name.
    public let current: [GenerationStamp]

    init(
        _ hub: ChangeHub, _ gate: SuspensionGate, of inbox: Inbox?, since number: Int? = nil, tellsRows: Bool = false
    ) throws(FileError) {
        subscription = try Subscription(
            hub, gate, inbox.map { SeenStores(in: $0, since: number, tellsRows: tellsRows) })
        current = subscription.current
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription
        private var signals: AsyncStream<Void>.Iterator

        fileprivate init(_ subscription: Subscription) {
            self.subscription = subscription
            signals = subscription.signals.makeAsyncIterator()
        }

        /// - Returns: `nil` once the task is cancelled.
        public mutating func next() async -> StoreChange? {
            while !Task.isCancelled {
                if let change = subscription.next() { return change }
                guard await signals.next() != nil else { break }
            }
            return nil
        }
    }
}

/// The changes that one subscriber has been told of.
private final class Subscription: Sendable {
    let signals: AsyncStream<Void>
    private let hub: ChangeHub
    private let gate: SuspensionGate
    private let id: Int
    /// `nil` for a coordinator of single files.
    private let seen: Mutex<SeenStores?>

    init(_ hub: ChangeHub, _ gate: SuspensionGate, _ seen: SeenStores?) throws(FileError) {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        self.hub = hub
        self.gate = gate
        self.seen = Mutex(seen)
        id = try hub.subscribe(signal)
    }

    deinit { hub.unsubscribe(id) }

    var current: [GenerationStamp] { seen.withLock { $0?.current ?? [] } }

    /// The next change, if there is one now, and the coordinator is not suspended: there is a signal when the suspension is over.
    func next() -> StoreChange? {
        guard let suspensions = try? gate.enter() else { return nil }
        defer { gate.leave() }
        if let name = hub.takeRewritten(for: id) { return .rewritten(name) }
        return seen.withLock { seen in
            var attempt = seen
            let change = attempt?.nextChange { [gate] in
                if gate.wasSuspended(since: suspensions) { throw CoordinatorError.suspended }
            }
            // The stores that were looked at meanwhile are looked at again.
            guard !gate.wasSuspended(since: suspensions) else { return nil }
            seen = attempt
            return change
        }
    }
}
