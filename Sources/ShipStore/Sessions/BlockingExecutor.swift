import Dispatch

/// Threads for tasks that wait for the disk: the sync, the digests and the checks of a large store take seconds, and the
/// few threads that all tasks share must not stand still meanwhile.
///
/// Each piece of work gets a serial queue: its thread is its own. The work of concurrent queues shares its threads with all
/// tasks where there is no Darwin kernel to add some.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        DispatchQueue(label: "ship-store").async { job.runSynchronously(on: executor) }
    }
}
