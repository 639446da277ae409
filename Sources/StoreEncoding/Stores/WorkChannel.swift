import Dispatch
import Synchronization

/// Carries work from a task that reads a store to the tasks that encode and deliver it.
///
/// The reading task blocks: the walk over a store is synchronous, and waits while too many segments are in memory. So the task has a
/// thread of its own, and waits on a semaphore: asynchronous channels have no blocking `put`.
struct WorkChannel<Content: Sendable>: Sendable {
    /// A piece of work. Nothing else refers to its content, so that the task that takes it can release parts of it early.
    final class Pending: Sendable {
        private let content: Mutex<Content?>

        fileprivate init(_ content: Content) { self.content = Mutex(content) }

        /// - Returns: `nil` if the content was taken before.
        func take() -> Content? { content.withLock { $0.take() } }
    }

    /// The executor of the task that calls `run`.
    let thread: any TaskExecutor = BlockingThread()
    private let contents: AsyncThrowingStream<Pending, any Error>
    private let input: AsyncThrowingStream<Pending, any Error>.Continuation
    private let slots: DispatchSemaphore

    /// - Parameter capacity: Most pieces of work at once: the one that is read, and those that were put and are not finished.
    init(capacity: Int) {
        (contents, input) = AsyncThrowingStream.makeStream()
        // A semaphore must not be released below its initial value. That happens when the work ends early, so the initial value is 0.
        slots = DispatchSemaphore(value: 0)
        // The first piece is read without waiting.
        for _ in 1..<max(2, capacity) { slots.signal() }
    }

    /// Reads, on `thread`. If `read` throws, `next` throws the same error after all that was put.
    ///
    /// - Parameter read: Gets a function that puts a piece, and blocks until there is room for another. When the task is cancelled,
    ///   that function throws `CancellationError`.
    func run(_ read: (_ put: @escaping (Content) throws -> Void) throws -> Void) async {
        await withTaskCancellationHandler {
            do {
                try read { content in
                    try Task.checkCancellation()
                    input.yield(Pending(content))
                    slots.wait()
                    try Task.checkCancellation()
                }
                input.finish()
            } catch {
                input.finish(throwing: error)
            }
        } onCancel: {
            // Wakes `put`: what it waits for may never be finished now.
            slots.signal()
        }
    }

    /// The next piece of work. One task at a time may call this.
    ///
    /// - Returns: `nil` after the last piece.
    /// - Throws: The error that ended the reading; `CancellationError` as soon as the task is cancelled.
    func next() async throws -> Pending? {
        var iterator = contents.makeAsyncIterator()
        let next = try await iterator.next()
        // For a cancelled task the stream ends as it does after the last piece.
        try Task.checkCancellation()
        return next
    }

    /// One piece that was taken is finished.
    func finishOne() { slots.signal() }
}

/// A thread for one task that blocks, so that it does not block a thread of the shared pool.
private final class BlockingThread: TaskExecutor {
    private let queue = DispatchQueue(label: "ship-store walk")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
