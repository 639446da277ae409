import Dispatch
import Synchronization

/// What a thread that reads a store makes, on its way to the tasks that go on with it.
///
/// The thread waits while as many are under way as may be.
final class WorkChannel<Content: Sendable>: Sendable {
    /// One that was put. It is kept nowhere else, so that what has been done of it can be let go.
    final class Pending: Sendable {
        private let content: Mutex<Content?>

        fileprivate init(_ content: Content) { self.content = Mutex(content) }

        /// - Returns: `nil` if somebody has it already.
        func take() -> Content? {
            content.withLock { content in
                defer { content = nil }
                return content
            }
        }
    }

    private struct State {
        var contents: [Pending] = []
        var end: Result<Void, any Error>?
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let slots: DispatchSemaphore

    /// - Parameter capacity: How many may be under way: one that is being read, and those that were put and are not finished.
    init(capacity: Int) {
        // A semaphore may not go with fewer slots than it was made with, as it may when the work ends early.
        slots = DispatchSemaphore(value: 0)
        // The first is being read from the start.
        for _ in 1..<max(2, capacity) { slots.signal() }
    }

    /// Waits until there is room to read another. For the thread that reads.
    ///
    /// - Throws: `CancellationError` once nobody wants more.
    func put(_ content: Content) throws {
        state.withLock { state in
            if !state.isClosed { state.contents.append(Pending(content)) }
        }
        wake()
        slots.wait()
        guard !isClosed else {
            slots.signal()
            throw CancellationError()
        }
    }

    /// Nothing more comes.
    func end(_ result: Result<Void, any Error>) {
        state.withLock { $0.end = result }
        wake()
    }

    /// For one task at a time.
    ///
    /// - Returns: `nil` once all have been taken.
    /// - Throws: What ended the reading; `CancellationError` as soon as the task is cancelled.
    func next() async throws -> Pending? {
        while true {
            try Task.checkCancellation()
            let found: Result<Pending?, any Error>? = state.withLock { state in
                if !state.contents.isEmpty { return .success(state.contents.removeFirst()) }
                return state.end.map { end in end.map { nil } }
            }
            if let found { return try found.get() }
            // The thread that reads may itself be waiting, for a segment that is never finished now.
            await withTaskCancellationHandler {
                await sleep(if: { $0.contents.isEmpty && $0.end == nil && !Task.isCancelled })
            } onCancel: {
                wake()
            }
        }
    }

    /// Whether nobody wants more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// One of those that were taken is done with.
    func finishOne() { slots.signal() }

    /// Nobody wants more: lets the thread end, and waits for it, in a cancelled task too: it looks whether it is closed
    /// before each page.
    func close() async {
        state.withLock { state in
            state.isClosed = true
            state.contents = []
        }
        slots.signal()
        while state.withLock({ $0.end == nil }) { await sleep(if: { $0.end == nil }) }
        slots.signal()
    }

    /// Sleeps until something changes, and not at all unless that `isNeeded`.
    private func sleep(if isNeeded: (borrowing State) -> Bool) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isReady = state.withLock { state in
                guard isNeeded(state) else { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    private func wake() {
        state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }
}
