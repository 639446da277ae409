import Dispatch

/// Runs tasks that wait for the disk: the sync, the digests and the checks of a large store take seconds, and must not block the few
/// threads that all tasks share.
///
/// Each job gets a serial queue, and so a thread of its own. Outside Darwin a concurrent queue would share its threads with all tasks.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        DispatchQueue(label: "ship-store").async { job.runSynchronously(on: executor) }
    }
}
