import Dispatch
import GRDB
import Synchronization

/// Whether the work is still wanted, and the connections on which to stop it once it is not.
final class Interruption: Sendable {
    private let state = Mutex((isCancelled: false, connections: [DatabaseQueue]()))
    private let followsTask: Bool
    /// The work that this is a part of.
    private let whole: Interruption?

    /// - Parameters:
    ///   - followsTask: Whether the work runs in a task, and stops when that is cancelled.
    ///   - whole: The work that this is a part of: it stops with it.
    init(followingTask followsTask: Bool = false, within whole: Interruption? = nil) {
        (self.followsTask, self.whole) = (followsTask, whole)
    }

    var isCancelled: Bool {
        state.withLock { $0.isCancelled } || followsTask && Task.isCancelled || whole?.isCancelled == true
    }

    /// Ends every statement that runs on the connections, with `SQLITE_INTERRUPT`. Those of a part of the work end at their next look
    /// at it.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // With the lock held: a connection leaves the list before it is closed.
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

    /// Runs blocking work outside the threads that Swift's tasks share: a serial queue's work has its own thread.
    ///
    /// Returns only once the work has ended, also when the task was cancelled: the owner of the files may then remove them.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable (Interruption) throws(SnapshotError) -> Value
    ) async throws(SnapshotError) -> Value {
        let interruption = Interruption()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, SnapshotError>, Never>) in
                DispatchQueue(label: "ship-store snapshot").async {
                    let result = Result { () throws(SnapshotError) in
                        try interruption.check()
                        return try work(interruption)
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
