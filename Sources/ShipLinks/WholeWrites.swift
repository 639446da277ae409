import Synchronization

/// Writes of several tasks that go one after the other, each whole: who has given up waiting leaves no part of its bytes behind.
package final class WholeWrites: Sendable {
    private let last = Mutex<Task<Void, any Error>?>(nil)

    package init() {}

    /// Nobody reads on what is still going.
    deinit { last.withLock { $0 }?.cancel() }

    /// The end of the writes so far.
    package var end: Task<Void, any Error>? { last.withLock { $0 } }

    /// Writes when all earlier writes are over. A task that is cancelled no longer waits: a write that has begun goes on without it, and
    /// one that has not does not begin.
    ///
    /// - Parameter write: Not cancelled with the task.
    /// - Throws: What `write` throws; what an earlier write has thrown, since the peer may have had a part of that one.
    package func run(_ write: @escaping @Sendable () async throws -> Void) async throws(LinkError) {
        try await AwaitedAnswer<Void>.wait { answer in
            last.withLock { last in
                last = Task { [earlier = last] in
                    do {
                        try await withTaskCancellationHandler {
                            try await earlier?.value
                        } onCancel: {
                            earlier?.cancel()
                        }
                        guard !answer.isGiven else { return }
                        try Task.checkCancellation()
                        try await write()
                        answer.give(.success(()))
                    } catch {
                        answer.give(.failure(LinkError(ofCarrier: error)))
                        throw error
                    }
                }
            }
        }
    }
}
