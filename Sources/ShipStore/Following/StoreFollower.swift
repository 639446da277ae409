import ShipLinks
import ShipProtocol
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage

/// Follows stores: ships each settled change to one receiver, over one connection after the other, until it is cancelled.
///
///     FileWatch -> FollowedStore -> StoreFollower -> ProducerSession -> link
///
/// Between two shipments it holds nothing of a store: no transaction, no lock, no open file.
package final class StoreFollower: Sendable {
    private let producer: Producer
    private let following: Following
    private let stores: [FollowedStore]
    private let alarm: Alarm
    private let watch: FileWatch
    private let report: @Sendable (SendEvent) -> Void
    private let state = Mutex(State())

    private struct State {
        /// Attempts to reach the receiver, and sessions without a delivery, since the last success.
        var failures = 0
        /// Why the last session ended: it is said once.
        var failure: ShipmentError?
    }

    /// - Parameter report: Told of what happens, as it does.
    /// - Throws: What is wrong with a store: all have to be there at the start.
    package init(
        _ producer: Producer, _ following: Following, report: @escaping @Sendable (SendEvent) -> Void
    ) throws(ShipmentError) {
        let (alarm, copying) = (Alarm(), producer.options.copy)
        do {
            stores = try producer.sources { (_, _) throws(ShipmentError) in }.map {
                FollowedStore($0.path, named: $0.name, copying, following)
            }
            watch = try FileWatch(of: stores.count, files: { [stores] in stores[$0].files }) { [stores] index in
                stores[index].notice()
                alarm.ring()
            }
        } catch {
            throw ShipmentError(error)
        }
        following.control.follow { [stores] name in
            for store in stores where name == nil || store.name == name { store.notice() }
            alarm.ring()
        }
        (self.producer, self.following, self.alarm, self.report) = (producer, following, alarm, report)
    }

    // MARK: A session

    /// Offers each store, and then each change, for as long as the session lasts.
    ///
    /// - Throws: Why it broke off; `.stopped` if it was cancelled.
    package func session(over link: PeerLink) async throws {
        guard link.direction == .twoWay else { throw LinkError.oneWay }
        let departure = try await Departure(
            [], producer.options, start: .now,
            report: { [self] event in
                if case .delivered = event { state.withLock { ($0.failures, $0.failure) = (0, nil) } }
                report(event)
            })
        try await departure.follow(stores.filter { $0.end == nil }, over: link) { [self] in try await next() }
    }

    /// Waits for a store that has changed.
    ///
    /// - Throws: `CancellationError`; why the last store is no longer followed.
    private func next() async throws -> FollowedStore {
        while true {
            let store = try await waitForChange()
            if await store.mayHaveChanged() { return store }
        }
    }

    /// - Returns: The store that has been due for the longest time.
    private func waitForChange() async throws -> FollowedStore {
        while true {
            try Task.checkCancellation()
            if let end = ended { throw end }
            let next = stores.compactMap { store in store.due.map { (store, $0) } }.min { $0.1 < $1.1 }
            let isPaused = following.control.isPaused
            if let next, !isPaused, next.1 <= .now { return next.0 }
            try await alarm.wait(for: isPaused ? nil : next.map { max(.zero, $0.1 - ContinuousClock.now) })
        }
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
                let store = try await waitForChange()
                // The session looks at it, and begins its notices anew.
                if await store.mayHaveChanged() { return store.notice() }
            }
        }
        guard failure != .stopped, failure.mayPass || following.keepsTrying else { throw failure }
        let (failures, isNews) = state.withLock { state in
            defer { state.failure = failure }
            state.failures += 1
            return (state.failures, state.failure != failure)
        }
        if isNews { report(.disconnected(failure)) }
        try await Task.sleep(for: Backoff.ofConnecting.unevenDelay(after: failures))
        // A session begins with a look at each store.
        while following.control.isPaused { try await alarm.wait(for: nil) }
    }
}
