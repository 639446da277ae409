import ShipProtocol
import StoreInbox
import Synchronization

/// A queue for each store: shipments of one store are received one after the other, in the order in which they were offered; those of
/// different stores side by side.
final class StoreQueues: Sendable {
    typealias Slot = Turns<StoreName>.Turn

    private let turns = Turns<StoreName>()
    /// The searches of the last minute, by store and device.
    private let searches = Mutex<[StoreName: [ContentDigest?: ContinuousClock.Instant]]>([:])

    /// Whether a device may search for what it has in common with a store: once a minute; those that are not known are one.
    func beginSearch(of name: StoreName, for device: ContentDigest?) -> Bool {
        searches.withLock { searches in
            let now = ContinuousClock.now
            searches[name] = searches[name, default: [:]].filter { now - $0.value < .seconds(60) }
            guard searches[name]?[device] == nil else { return false }
            searches[name]?[device] = now
            return true
        }
    }

    /// Waits for the slot of a store.
    ///
    /// - Parameter work: Runs meanwhile; what it throws ends the waiting.
    /// - Throws: `InboxError.storeBusy` if the slot is not free within the limit, `CancellationError`, and what `work` throws.
    func take(
        _ name: StoreName, within limit: Duration, beside work: (@Sendable () async throws -> Never)? = nil
    ) async throws -> Slot {
        try await withThrowingTaskGroup(of: Slot?.self) { group in
            group.addTask { try await self.turns.take(name) }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            if let work { group.addTask { try await work() } }
            defer { group.cancelAll() }
            guard let slot = try await group.next() ?? nil else { throw InboxError.storeBusy(name, waited: limit) }
            return slot
        }
    }
}
