import Dispatch

/// Runs tasks that wait for the disk, or for other processes: the sync, the digests and the checks of a large store take seconds, and must
/// not block the few threads that all tasks share.
///
/// Each job gets a serial queue, and so a thread of its own. Outside Darwin a concurrent queue would share its threads with all tasks.
package final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    /// Runs what may wait for other processes.
    package static func run<Value>(_ body: () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(shared) { try body() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        DispatchQueue(label: "ship-store").async { job.runSynchronously(on: executor) }
    }
}
