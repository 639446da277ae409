import Synchronization

/// A queue for each key: who waits for the same key gets its turn one after the other, in the order in which they asked.
final class Turns<Key: Hashable & Sendable>: Sendable {
    /// The turn of a key, which the next task gets when the last reference to this is dropped.
    final class Turn: Sendable {
        private let key: Key
        private let turns: Turns

        fileprivate init(_ key: Key, _ turns: Turns) {
            self.key = key
            self.turns = turns
        }

        deinit { turns.passOn(key) }
    }

    /// The tasks that wait for a key; a key that nobody has has no entry.
    private let waiting = Mutex<[Key: [(id: Int, continuation: CheckedContinuation<Bool, Never>)]]>([:])
    private let nextID = Atomic<Int>(0)

    func take(_ key: Key) async throws -> Turn {
        let id = nextID.add(1, ordering: .relaxed).newValue
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = waiting.withLock { waiting in
                    guard !Task.isCancelled else { return false }
                    guard waiting[key] != nil else {
                        waiting[key] = []
                        return true
                    }
                    waiting[key]?.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = waiting.withLock { waiting in
                waiting[key]?.firstIndex { $0.id == id }.flatMap { waiting[key]?.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        guard isMine else { throw CancellationError() }
        return Turn(key, self)
    }

    private func passOn(_ key: Key) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Bool, Never>? in
            guard waiting[key]?.isEmpty == false else {
                waiting[key] = nil
                return nil
            }
            return waiting[key]?.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
