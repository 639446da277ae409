import ShipProtocol
import StoreInbox
import Synchronization

/// A queue for each store: shipments of one store are received one after the other, in the order in which they were offered; those of
/// different stores side by side.
final class StoreQueues: Sendable {
    typealias Slot = Turns<StoreName>.Turn

    private let turns = Turns<StoreName>()
    /// When searches began that have not led to a generation, by store and device.
    private let searches = Mutex<[StoreName: [ContentDigest?: [ContinuousClock.Instant]]]>([:])

    /// Whether a device may search for what it has in common with a store: three times a minute; those that are not known are one.
    func beginSearch(of name: StoreName, for device: ContentDigest?) -> Bool {
        searches.withLock { searches in
            let begun = searches[name]?[device]?.filter { .now - $0 < .seconds(60) } ?? []
            guard begun.count < 3 else { return false }
            searches[name, default: [:]][device] = begun + [.now]
            return true
        }
    }

    /// A device has brought a generation: that takes more work than to search it, so the searches before it count no more.
    func forgetSearches(of name: StoreName, for device: ContentDigest?) {
        searches.withLock { _ = $0[name]?.removeValue(forKey: device) }
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
                try await Task.sleep(for: limit.bounded)
                return nil
            }
            if let work { group.addTask { try await work() } }
            defer { group.cancelAll() }
            guard let slot = try await group.next() ?? nil else { throw InboxError.storeBusy(name, waited: limit) }
            return slot
        }
    }
}
