import EssentialFoundation
import ShipStore

/// What a sender does next: its record, and what it knows of its stores in this process.
struct SenderState: Sendable {
    var record: SenderRecord
    /// The stores that may have changed since a copy was taken, and when one is to be taken.
    private(set) var changes: [StoreName: Date]
    /// What each store was when a copy was taken last.
    private(set) var newest: [StoreName: ManifestContent.ID] = [:]
    let options: TransferSender.Options

    /// What is to be done for a store.
    enum Step: Hashable, Sendable {
        /// Nothing, before somebody calls.
        case wait
        case waitUntil(Date)
        case make(Order)
    }

    /// How a shipment is to be made.
    struct Order: Hashable, Sendable {
        let manner: SenderRecord.Manner
        let held: HoldingsFile
        let over: ManifestContent.ID?
    }

    /// What becomes of a shipment that was made.
    enum Fate: Hashable, Sendable {
        /// It is handed to the session, in place of another one, if there is one.
        case goes(SenderRecord.Transfer)
        /// The receiver has it.
        case isThere
        /// It is of no use as things are now.
        case dropped
    }

    init(_ record: SenderRecord, of stores: some Sequence<StoreName>, _ options: TransferSender.Options, at now: Date) {
        self.record = record
        self.options = options
        changes = Dictionary(stores.map { ($0, now) }) { first, _ in first }
        self.record.stores = record.stores.filter { changes[$0.key] != nil }
    }

    var backoff: Backoff { Backoff(first: options.patience, longest: options.longestPatience) }

    /// A store may have changed. The first of several changes counts, so that one after the other puts nothing off for ever.
    mutating func change(_ name: StoreName, at now: Date) {
        changes[name] = min(changes[name] ?? .distantFuture, now.addingTimeInterval(options.settling / .seconds(1)))
    }

    // MARK: The question

    /// Whether the receiver is to be asked now, with which token.
    ///
    /// - Parameter queued: The token of a question that the session has not delivered yet: its answer will be as new as any.
    /// - Returns: `nil` for no; and until when to wait.
    mutating func ask(_ queued: TransferMessage.Token?, at now: Date) -> (token: TransferMessage.Token?, until: Date?) {
        if record.held == nil, record.question == nil { record.doubt() }
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
                // It was delivered or lost, and nobody spoke of it: the next one may fare no better.
                if transfer.over == record.current(name) { entry.postpone(now, backoff) }
            } else {
                let patience = transfer.patience ?? backoff.time(after: entry.failures + 1, from: now)
                transfer.patience = patience
                entry.underWay = transfer
                guard now >= backoff.bounded(patience, at: now) else { return .waitUntil(patience) }
                record.doubt()
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
        return .make(Order(manner: entry.manner, held: held, over: record.current(name)))
    }

    /// A copy is about to be taken: what changes from here on is a change.
    mutating func begin(_ name: StoreName) { changes[name] = nil }

    /// What was begun was given up, by the app.
    mutating func giveUp(_ name: StoreName, at now: Date) { changes[name] = now }

    /// No shipment could be made.
    ///
    /// - Returns: When it is tried again.
    mutating func fail(_ name: StoreName, at now: Date) -> Date {
        changes[name] = now
        record.stores[name, default: SenderRecord.Entry()].postpone(now, backoff)
        return record.stores[name]?.notBefore ?? now
    }

    /// A shipment was made.
    mutating func made(
        _ name: StoreName, _ token: TransferMessage.Token, _ content: ManifestContent.ID, by order: Order,
        _ outstanding: Set<TransferMessage.Token>, at now: Date
    ) -> Fate {
        newest[name] = content
        guard record.question == nil, record.current(name) == order.over else { return .dropped }
        var entry = record.stores[name] ?? SenderRecord.Entry()
        defer { record.stores[name] = entry }
        if let transfer = entry.underWay {
            // One that has been delivered by now is answered first; one of the same content is as good.
            guard outstanding.contains(transfer.token) else { return .dropped }
            if transfer.content == content, transfer.over == order.over { return .dropped }
        }
        if content == order.over {
            entry = SenderRecord.Entry()
            return .isThere
        }
        if let refusal = entry.refusal, refusal.content == content,
            refusal.next.map({ backoff.bounded($0, at: now) > now }) ?? true
        {
            return .dropped
        }
        let transfer = SenderRecord.Transfer(token: token, content: content, over: order.over, began: now)
        entry.underWay = transfer
        return .goes(transfer)
    }
}
