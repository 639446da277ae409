import ShipLinks
import ShipProtocol
import Synchronization

/// Follows stores for one receiver: ships each settled change, over one connection after the other, until it is cancelled.
///
///     FileWatch -> WatchedStore -> FollowedStore -> StoreFollower -> ProducerSession -> link
///
/// Between two shipments it holds nothing of a store: no transaction, no lock, no open file.
package final class StoreFollower: Sendable {
    private let producer: Producer
    private let following: Following
    private let watched: WatchedStores
    /// Those that the receiver may have, and what tells of more of them and of their changes.
    private let state = Mutex<(stores: [FollowedStore], registrations: [Registration])>(([], []))
    private let alarm = Alarm()
    private let report: @Sendable (SendEvent) -> Void
    private let attempts: Attempts

    package init(
        _ producer: Producer, _ following: Following, _ watched: WatchedStores,
        only isAllowed: @escaping @Sendable (StoreName) -> Bool = { _ in true },
        report: @escaping @Sendable (SendEvent) -> Void
    ) {
        (self.producer, self.following, self.watched, self.report) = (producer, following, watched, report)
        attempts = Attempts(keepsTrying: following.keepsTrying) { report(.disconnected($0)) }
        let registration = watched.forEach { [weak self] in if isAllowed($0.name) { self?.add($0) } }
        state.withLock { $0.registrations.append(registration) }
    }

    var stores: [FollowedStore] { state.withLock { $0.stores } }

    private func add(_ watched: WatchedStore) {
        let store = FollowedStore(watched, following) { [weak self] end in
            // Why the last one is not ends all, and is said then.
            guard let self, ended == nil else { return }
            report(.unfollowed(watched.name, end))
        }
        state.withLock { state in
            guard !state.stores.contains(where: { $0.name == store.name }) else { return }
            state.stores.append(store)
            state.registrations.append(
                watched.observers.add { [alarm] in
                    store.notice()
                    alarm.ring()
                })
        }
        store.notice()
        alarm.ring()
    }

    // MARK: A session

    /// Offers each store, and then each change, for as long as the session lasts.
    ///
    /// - Parameters:
    ///   - receiver: What a receiver without an id is called in the memory; `nil` for where it is.
    ///   - stays: Whether the changes go, too.
    /// - Returns: Why the first store that did not arrive did not; of what was offered at the start.
    /// - Throws: Why the session broke off; `.stopped` if it was cancelled.
    package func session(
        over link: PeerLink, with receiver: String? = nil, staying stays: Bool = true
    ) async throws -> ShipmentError? {
        guard link.direction == .twoWay else { throw LinkError.oneWay }
        var failure: ShipmentError?
        do throws(ShipmentError) {
            _ = try producer.options.trust.stores(of: link, as: .receiver)
        } catch {
            // Whose trust was withdrawn meanwhile, or cannot be looked up.
            failure = error
        }
        let nothing = failure ?? (watched.all.isEmpty ? .noStoreYet : link.device.map(ShipmentError.noStoreFor))
        let mayCome = failure == nil && stays && producer.isOfInbox
        // Into an inbox there may come a store for who waits.
        if let nothing, stores.isEmpty, !mayCome {
            let job = try await SendJob([], producer.options, start: .now, report: report)
            try await job.refuse(nothing, over: link)
        }
        let job = try await SendJob(
            [], producer.options, start: .now, to: receiver,
            report: { [self] event in
                if case .delivered = event { attempts.succeeded() }
                report(event)
            })
        let open = stores.filter { $0.end == nil }
        for store in open { store.begin() }
        let (ends, end) = AsyncStream<StoreName>.makeStream()
        return try await withThrowingTaskGroup(of: ShipmentError?.self) { group in
            defer { group.cancelAll() }
            group.addTask { [self] in
                guard stays else { return try await job.ship(open, over: link, makingWay: { end.yield($0) }) }
                // Who passes on what it has does not know what is the newest.
                var asked: (@Sendable (Question) -> Void)?
                if !producer.isOfInbox { asked = { [self] in ask($0) } }
                return try await job.ship(
                    open, over: link, makingWay: { end.yield($0) }, orSaying: nothing, asked: asked,
                    following: { [self] in try await next(answering: $0) })
            }
            group.addTask { [report] in
                for await name in ends {
                    report(.makesWay(name))
                    throw ShipmentError.stopped
                }
                throw CancellationError()
            }
            return try await group.next() ?? nil
        }
    }

    /// Other names than those of the session's stores are not known here.
    private func ask(_ question: Question) {
        stores.first { $0.name == question.name }?.ask(question.nonce)
        alarm.ring()
    }

    /// Waits for a store that has changed, and answers questions about those that have not.
    ///
    /// - Throws: `CancellationError`; what `answer` throws; why the last store is no longer followed.
    private func next(answering answer: ProducerSession.Answering) async throws -> FollowedStore {
        while true {
            guard let (store, cause) = try await waitForChange() else { continue }
            let question = store.question
            if await store.mayHaveChanged() {
                if cause == .notice { return store }
                // It goes when it has settled, and as often as it may.
                store.notice()
            } else if let question, let newest = store.unchanged(since: question) {
                try await answer(newest)
            }
        }
    }

    /// - Returns: The store that has been due for the longest time; `nil` if that comes to an end first.
    private func waitForChange(
        until end: ContinuousClock.Instant? = nil
    ) async throws -> (FollowedStore, FollowedStore.Cause)? {
        while true {
            try Task.checkCancellation()
            if let end = ended { throw end }
            let next = stores.compactMap { store in store.due.map { (store, $0) } }.min { $0.1.at < $1.1.at }
            let isPaused = following.control.isPaused
            if let next, !isPaused, next.1.at <= .now { return (next.0, next.1.1) }
            if let end, end <= .now { return nil }
            let times = [isPaused ? nil : next?.1.at, end].compactMap(\.self)
            try await alarm.wait(for: times.min().map { max(.zero, $0 - ContinuousClock.now) })
        }
    }

    // MARK: Without sessions

    /// Publishes all stores, and then each that has changed, until the task is cancelled.
    ///
    /// - Parameter interval: How often to publish all of them, though nothing has changed.
    func publish(
        reissuing interval: Duration, _ publish: ([FollowedStore], PublishingCause) async throws -> Void
    ) async throws {
        // Each is a request that costs.
        let interval = max(.seconds(1), interval.bounded)
        while true {
            do {
                var (end, next) = (ContinuousClock.now + interval, nil as FollowedStore?)
                try await publish(stores.filter { $0.end == nil }, .change)
                while true {
                    attempts.succeeded()
                    next = try await changed(until: end)
                    if let next {
                        try await publish([next], .change)
                    } else {
                        end = .now + interval
                        try await publish(stores.filter { $0.end == nil }, .time)
                    }
                }
            } catch {
                if let end = ended { throw end }
                try await rest(after: ShipmentError(error))
            }
        }
    }

    /// Why stores are published.
    enum PublishingCause { case change, time }

    /// - Returns: The store that has changed; `nil` at that time.
    private func changed(until end: ContinuousClock.Instant) async throws -> FollowedStore? {
        while let (store, cause) = try await waitForChange(until: end) {
            guard await store.mayHaveChanged() else { continue }
            if cause == .notice { return store }
            store.notice()
        }
        return nil
    }

    /// Why no store is followed any more; `nil` if one is.
    private var ended: ShipmentError? {
        let ends = stores.map(\.end)
        return ends.contains { $0 == nil } ? nil : ends.first ?? nil
    }

    // MARK: Between two sessions

    /// Waits until it is time for the next session.
    ///
    /// - Parameter failure: Why the last one ended; `nil` if the receiver does not wait for changes: then the next one begins with the next.
    /// - Throws: Why there is no use in another.
    package func rest(after failure: ShipmentError?) async throws {
        try Task.checkCancellation()
        if let end = ended { throw end }
        guard let failure else {
            while true {
                guard let (store, _) = try await waitForChange() else { continue }
                // The session looks at it, and begins its notices anew.
                if await store.mayHaveChanged() { return store.notice() }
            }
        }
        try await attempts.rest(after: failure)
        // A session begins with a look at each store.
        while following.control.isPaused { try await alarm.wait(for: nil) }
    }
}
