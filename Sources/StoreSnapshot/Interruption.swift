import Dispatch
import GRDB
import Synchronization

/// Whether the work is still wanted, and what to stop once it is not.
final class Interruption: Sendable {
    private struct State {
        var isCancelled = false
        var connections: [DatabaseQueue] = []
    }
    private let state = Mutex(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends what runs on the connections at once, `SQLITE_INTERRUPT`.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Within the lock: a connection that is about to be closed leaves the list first.
            state.connections.forEach { $0.interrupt() }
        }
    }

    func add(_ connection: DatabaseQueue) {
        state.withLock { $0.connections.append(connection) }
    }

    func remove(_ connection: DatabaseQueue) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }

    func check() throws(SnapshotError) {
        if isCancelled { throw .cancelled }
    }

    /// Runs work that blocks, away from the threads that Swift's tasks share: a serial queue's work has a thread of its own.
    ///
    /// Returns only once the work has ended, when the task was cancelled too, so that nothing uses a file any more that
    /// its owner is about to remove.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable (Interruption) throws(SnapshotError) -> Value
    ) async throws(SnapshotError) -> Value {
        let interruption = Interruption()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SnapshotError>, Never>) in
                DispatchQueue(label: "ship-store snapshot").async {
                    let result: Result<Value, SnapshotError>
                    do throws(SnapshotError) {
                        try interruption.check()
                        result = .success(try work(interruption))
                    } catch {
                        result = .failure(error)
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            interruption.cancel()
        }
        return try result.get()
    }
}
