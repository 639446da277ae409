import ShipProtocol
import StoreInbox
import Synchronization

/// A queue for each store: shipments of one store are received one after the other, in the order in which they were offered; those of
/// different stores side by side.
final class StoreQueues: Sendable {
    /// The head of a store's queue, which the next task gets when the last reference to this is dropped.
    final class Slot: Sendable {
        private let name: StoreName
        private let queues: StoreQueues

        fileprivate init(_ name: StoreName, _ queues: StoreQueues) {
            self.name = name
            self.queues = queues
        }

        deinit { queues.passOn(name) }
    }

    /// The tasks that wait for a store; a store whose slot is free has no entry.
    private let waiting = Mutex<[StoreName: [(id: Int, continuation: CheckedContinuation<Bool, Never>)]]>([:])
    private let nextID = Atomic<Int>(0)

    /// Waits for the slot of a store.
    ///
    /// - Parameter work: Runs meanwhile; what it throws ends the waiting.
    /// - Throws: `InboxError.storeBusy` if the slot is not free within the limit, `CancellationError`, and what `work` throws.
    func take(
        _ name: StoreName, within limit: Duration, beside work: (@Sendable () async throws -> Never)? = nil
    ) async throws -> Slot {
        try await withThrowingTaskGroup(of: Slot?.self) { group in
            group.addTask { try await self.take(name) }
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

    /// - Throws: `CancellationError`.
    private func take(_ name: StoreName) async throws -> Slot {
        let id = nextID.add(1, ordering: .relaxed).newValue
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = waiting.withLock { waiting in
                    guard !Task.isCancelled else { return false }
                    guard waiting[name] != nil else {
                        waiting[name] = []
                        return true
                    }
                    waiting[name]?.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = waiting.withLock { waiting in
                waiting[name]?.firstIndex { $0.id == id }.flatMap { waiting[name]?.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isMine else { throw CancellationError() }
        return Slot(name, self)
    }

    private func passOn(_ name: StoreName) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Bool, Never>? in
            guard waiting[name]?.isEmpty == false else {
                waiting[name] = nil
                return nil
            }
            return waiting[name]?.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
