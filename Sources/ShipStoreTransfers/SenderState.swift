import EssentialFoundation
import ShipStore

/// Decides what a sender does next, from its record and what it has learned of its stores in this process.
struct SenderState: Sendable {
    var record: SenderRecord
    /// The stores that may have changed since their last copy, and when to take the next copy.
    private(set) var changes: [StoreName: Date]
    /// The content of the last copy of each store.
    private(set) var newest: [StoreName: ManifestContent.ID] = [:]
    let options: TransferSender.Options

    /// The next step for a store.
    enum Step: Hashable, Sendable {
        /// Nothing, until an event.
        case wait
        case waitUntil(Date)
        case make(Order)
    }

    /// How to make a shipment.
    struct Order: Hashable, Sendable {
        let form: SenderRecord.Form
        let held: HoldingsFile
        /// The content that is current at the receiver.
        let over: ManifestContent.ID?
    }

    /// The fate of a shipment that was made.
    enum Decision: Hashable, Sendable {
        /// Hand it to the session, in place of the one that is under way, if there is one.
        case send(SenderRecord.Transfer)
        /// Drop it: the receiver has this content.
        case upToDate
        /// Drop it: the record has changed meanwhile.
        case drop
    }

    init(_ record: SenderRecord, of stores: some Sequence<StoreName>, _ options: TransferSender.Options, at now: Date) {
        self.record = record
        self.options = options
        changes = Dictionary(stores.map { ($0, now) }) { first, _ in first }
        self.record.stores = record.stores.filter { changes[$0.key] != nil }
    }

    var backoff: Backoff { Backoff(first: options.retryDelay, longest: options.maximumRetryDelay) }

    /// A store may have changed. The first of several changes counts, so that steady changes do not delay a copy forever.
    mutating func change(_ name: StoreName, at now: Date) {
        changes[name] = min(changes[name] ?? .distantFuture, now.addingTimeInterval(options.settling / .seconds(1)))
    }

    // MARK: The question

    /// Decides whether to ask the receiver now.
    ///
    /// - Parameter queued: The token of a question that the session has not delivered yet: its answer will be as new as any.
    /// - Returns: The token to ask with, `nil` to not ask; and the time to wait for.
    mutating func ask(_ queued: TransferMessage.Token?, at now: Date) -> (token: TransferMessage.Token?, until: Date?) {
        if record.held == nil, record.question == nil { record.askAgain() }
        guard var question = record.question else { return (nil, nil) }
        defer { record.question = question }
        if let next = question.next.map({ backoff.bounded($0, at: now) }), now < next { return (nil, next) }
        question.attempts += 1
        question.next = backoff.time(after: question.attempts, from: now)
        if let queued {
            question.token = queued
            return (nil, question.next)
        }
        return (question.token, question.next)
    }

    // MARK: A store

    /// Decides what to do for a store: first for its shipment that is under way, then for its changes.
    ///
    /// - Parameter outstanding: The tokens of the shipments that the session has not delivered yet.
    mutating func step(for name: StoreName, _ outstanding: Set<TransferMessage.Token>, at now: Date) -> Step {
        guard record.question == nil, let held = record.held else { return .wait }
        var entry = record.stores[name] ?? SenderRecord.Entry()
        defer { if record.stores[name] != entry { record.stores[name] = entry } }
        if var transfer = entry.underWay {
            if outstanding.contains(transfer.token) {
                (transfer.isSettled, transfer.patience) = (false, nil)
                if transfer.over != record.current(name) {
                    entry.underWay = nil
                } else {
                    entry.underWay = transfer
                    guard let due = changes[name] else { return .wait }
                    let time = max(due, transfer.began.addingTimeInterval(options.replacing / .seconds(1)))
                    guard now >= backoff.bounded(time, at: now) else { return .waitUntil(time) }
                }
            } else if transfer.isSettled {
                entry.underWay = nil
                // It was delivered or lost without an answer: the next one may end the same way.
                if transfer.over == record.current(name) { entry.postpone(now, backoff) }
            } else {
                let deadline = transfer.patience ?? backoff.time(after: entry.failures + 1, from: now)
                transfer.patience = deadline
                entry.underWay = transfer
                guard now >= backoff.bounded(deadline, at: now) else { return .waitUntil(deadline) }
                record.askAgain()
                return .waitUntil(now)
            }
        }
        if let time = entry.notBefore.map({ backoff.bounded($0, at: now) }), now < time { return .waitUntil(time) }
        if let due = changes[name].map({ backoff.bounded($0, at: now) }) {
            guard now >= due else { return .waitUntil(due) }
        } else if let newest = newest[name] {
            if newest == record.current(name) { return .wait }
            if let refusal = entry.refusal, refusal.content == newest {
                guard let next = refusal.next.map({ backoff.bounded($0, at: now) }) else { return .wait }
                guard now >= next else { return .waitUntil(next) }
            }
        }
        return .make(Order(form: entry.manner, held: held, over: record.current(name)))
    }

    /// A copy is about to be taken: it contains all changes until now.
    mutating func begin(_ name: StoreName) { changes[name] = nil }

    /// The app has stopped making a shipment.
    mutating func stop(_ name: StoreName, at now: Date) { changes[name] = now }

    /// No shipment could be made.
    ///
    /// - Returns: When to try again.
    mutating func fail(_ name: StoreName, at now: Date) -> Date {
        changes[name] = now
        record.stores[name, default: SenderRecord.Entry()].postpone(now, backoff)
        return record.stores[name]?.notBefore ?? now
    }

    mutating func made(
        _ name: StoreName, _ token: TransferMessage.Token, _ content: ManifestContent.ID, by order: Order,
        _ outstanding: Set<TransferMessage.Token>, at now: Date
    ) -> Decision {
        newest[name] = content
        guard record.question == nil, record.current(name) == order.over else { return .drop }
        var entry = record.stores[name] ?? SenderRecord.Entry()
        defer { record.stores[name] = entry }
        if let transfer = entry.underWay {
            // If that one has been delivered by now, its answer comes first; if it has the same content, it is as good.
            guard outstanding.contains(transfer.token) else { return .drop }
            if transfer.content == content, transfer.over == order.over { return .drop }
        }
        if content == order.over {
            entry = SenderRecord.Entry()
            return .upToDate
        }
        if let refusal = entry.refusal, refusal.content == content,
            refusal.next.map({ backoff.bounded($0, at: now) > now }) ?? true
        {
            return .drop
        }
        let transfer = SenderRecord.Transfer(token: token, content: content, over: order.over, began: now)
        entry.underWay = transfer
        return .send(transfer)
    }
}
