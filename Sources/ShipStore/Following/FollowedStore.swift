import ShipProtocol
import StoreSnapshot
import Synchronization
import SystemPackage

/// A store that is followed for one receiver: when it is to be looked at, and what the receiver has.
final class FollowedStore: Sendable {
    let watched: WatchedStore
    private let following: Following
    private let state = Mutex(State())

    private struct State {
        /// The first and the last notice of a change since the last look began.
        var noticed: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
        /// Nothing is shipped before.
        var notBefore = ContinuousClock.now
        /// As the store was when the receiver acknowledged it.
        var shipped: WatchedStore.Look?
        /// Looks that have found nothing new, one after the other.
        var looksInVain = 0
        var failures = 0
        /// Why the last shipment did not arrive: it is said once.
        var failure: ShipmentError?
        /// Why the store is no longer followed.
        var end: ShipmentError?
    }

    /// How often a store is shipped that is refused for good.
    private static let mostAttempts = 3
    private static let backoff = Backoff(first: .seconds(1), longest: .seconds(300))
    /// A look may make notices itself, and where a clock was set back nothing tells them from those of a commit.
    private static let mostLooksInVain = 3
    private static let backoffInVain = Backoff(first: .seconds(1), longest: .seconds(5))

    init(_ watched: WatchedStore, _ following: Following) { (self.watched, self.following) = (watched, following) }

    var name: StoreName { watched.name }

    /// Why the store is no longer followed; `nil` if it is.
    var end: ShipmentError? { state.withLock { $0.end } }

    /// It may have changed.
    func notice() {
        let now = ContinuousClock.now
        state.withLock { $0.noticed = ($0.noticed?.first ?? now, now) }
    }

    /// When it is to be looked at; `nil` if nothing has been noticed since the last look.
    var due: ContinuousClock.Instant? {
        let due: ContinuousClock.Instant? = state.withLock { state in
            guard state.end == nil, let noticed = state.noticed else { return nil }
            let settled = min(noticed.last + following.settling, noticed.first + following.longestDelay)
            return max(settled, state.notBefore)
        }
        guard let due else { return nil }
        return watched.rest.map { max(due, $0) } ?? due
    }

    /// Whether the receiver may not have what the store holds now.
    func mayHaveChanged() async -> Bool {
        let shipped = state.withLock { state in
            // A notice that comes from here on counts.
            state.noticed = nil
            return state.shipped
        }
        guard let shipped else { return true }
        if let left = shipped.left, left == watched.traces { return false }
        guard let known = shipped.state else { return true }
        let look = await watched.look()
        guard look.state == known else { return true }
        state.withLock { state in
            state.shipped = look
            Self.lookInVain(&state)
        }
        return false
    }

    private static func lookInVain(_ state: inout State) {
        state.looksInVain += 1
        guard state.looksInVain > mostLooksInVain else { return }
        let delay = backoffInVain.delay(after: state.looksInVain - mostLooksInVain)
        state.notBefore = max(state.notBefore, .now + delay)
    }

    // MARK: Shipping

    /// The same order, which tells this store what becomes of it.
    ///
    /// - Parameter end: Called when the shipment is to end for newer ones.
    func follow(
        _ order: ProducerSession.Order, makingWay end: @escaping @Sendable () -> Void
    ) -> ProducerSession.Order {
        let found = Mutex(WatchedStore.Look())
        let underWay = Mutex<Registration?>(nil)
        var followed = order
        followed.unchanged = { [self] in
            // What comes while this is under way counts as a change since.
            state.withLock { $0.noticed = nil }
            let look = await watched.look()
            found.withLock { $0 = look }
            return await order.unchanged()
        }
        followed.prepare = { [self] in
            state.withLock { $0.noticed = nil }
            let shipment = try await order.prepare()
            underWay.withLock { $0 = shipment.version.makingWay.add(end) }
            found.withLock { $0 = WatchedStore.Look(state: shipment.version.state, left: shipment.version.left) }
            return shipment
        }
        followed.ended = { [self] result in
            underWay.withLock { $0 = nil }
            if isNews(result) { order.ended(result) }
            ended(result, found.withLock { $0 })
        }
        return followed
    }

    /// Whether a result is to be told: what goes on failing for the same reason is told once.
    private func isNews(_ result: Result<Delivery, ShipmentError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error) where error.breaksLink || error == .stopped: false
        case .failure(let error): state.withLock { $0.failure != error }
        }
    }

    /// - Parameter shipped: As the store was when it was shipped.
    private func ended(_ result: Result<Delivery, ShipmentError>, _ shipped: WatchedStore.Look) {
        state.withLock { state in
            switch result {
            case .success(let delivery):
                (state.shipped, state.failures, state.failure) = (shipped, 0, nil)
                if delivery.receipt?.outcome == .unchanged {
                    Self.lookInVain(&state)
                } else {
                    state.looksInVain = 0
                }
                state.notBefore = max(state.notBefore, .now + following.minimumInterval)
            case .failure(let error):
                // It has not arrived, so it counts as changed.
                state.shipped?.left = nil
                let now = ContinuousClock.now
                state.noticed = state.noticed ?? (now, now)
                if error.breaksLink || error == .stopped { return }
                state.failure = error
                state.failures += 1
                state.notBefore = max(state.notBefore, now + Self.backoff.unevenDelay(after: state.failures))
                // A store that is being made anew, or migrated, may be refused for a moment.
                if !error.mayPass, !following.keepsTrying, state.failures >= Self.mostAttempts { state.end = error }
            }
        }
    }
}
