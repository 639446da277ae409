import Dispatch

/// Threads for tasks that wait for the disk: the sync, the digests and the checks of a large store take seconds, and the
/// few threads that all tasks share must not stand still meanwhile.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let queue = DispatchQueue(label: "ship-store", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
