import ShipProtocol
import StoreInbox
import Synchronization

/// Shipments of one store are installed one after the other, in the order in which they were offered; those of different
/// stores side by side.
final class StoreTurns: Sendable {
    /// The right to work on one store, given back when the last reference to it is dropped.
    final class Turn: Sendable {
        private let name: StoreName
        private let turns: StoreTurns

        fileprivate init(_ name: StoreName, _ turns: StoreTurns) {
            self.name = name
            self.turns = turns
        }

        deinit { turns.passOn(name) }
    }

    /// Who waits for a store that somebody works on; a store that nobody works on has no entry.
    private let waiting = Mutex<[StoreName: [(id: Int, continuation: CheckedContinuation<Bool, Never>)]]>([:])
    private let nextID = Atomic<Int>(0)

    /// - Parameter work: Runs while the turn is waited for; what it throws ends the waiting.
    /// - Throws: `InboxError.storeBusy` if it is not free within the limit, `CancellationError`, and what `work` throws.
    func take(
        _ name: StoreName, within limit: Duration, beside work: (@Sendable () async throws -> Never)? = nil
    ) async throws -> Turn {
        try await withThrowingTaskGroup(of: Turn?.self) { group in
            group.addTask { try await self.take(name) }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            if let work { group.addTask { try await work() } }
            defer { group.cancelAll() }
            guard let turn = try await group.next() ?? nil else { throw InboxError.storeBusy(name, waited: limit) }
            return turn
        }
    }

    /// - Throws: `CancellationError`.
    private func take(_ name: StoreName) async throws -> Turn {
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
        return Turn(name, self)
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
