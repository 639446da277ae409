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

    /// The stores that each device is bringing, and in how many shipments.
    private let coming = Mutex<[ContentDigest: [StoreName: Int]]>([:])

    /// The place of a store among those that a device is bringing, until the last reference to this is dropped.
    final class Place: Sendable {
        private let name: StoreName
        private let device: ContentDigest
        private let queues: StoreQueues

        fileprivate init(_ name: StoreName, _ device: ContentDigest, _ queues: StoreQueues) {
            (self.name, self.device, self.queues) = (name, device, queues)
        }

        deinit { queues.coming.withLock { $0.change(name, of: device, by: -1) } }
    }

    /// - Parameter admit: Is given the stores that the device brings already, while no other one gets a place; throws to refuse this one.
    func takePlace(
        of name: StoreName, from device: ContentDigest, unless admit: (Set<StoreName>) throws -> Void
    ) throws -> Place {
        try coming.withLock { coming in
            try admit(Set(coming[device, default: [:]].keys))
            coming.change(name, of: device, by: 1)
        }
        return Place(name, device, self)
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

extension [ContentDigest: [StoreName: Int]] {
    fileprivate mutating func change(_ name: StoreName, of device: ContentDigest, by difference: Int) {
        let count = self[device]?[name, default: 0] ?? 0
        self[device, default: [:]][name] = count + difference > 0 ? count + difference : nil
        if self[device]?.isEmpty == true { self[device] = nil }
    }
}
