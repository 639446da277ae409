import Dispatch

/// Threads for tests that wait for processes of their own: an exit test keeps the thread waiting on which it began, and the
/// few that all tasks share would be used up by a handful of them.
package final class TestThreads: TaskExecutor {
    package static let shared = TestThreads()

    private let queue = DispatchQueue(label: "tests", attributes: .concurrent)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
