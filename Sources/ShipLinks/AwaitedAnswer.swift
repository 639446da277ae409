import ShipProtocol
import Synchronization

/// The result of an asynchronous call: the answer, a timeout or the task's cancellation, whichever comes first.
package final class AwaitedAnswer<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, LinkError>

    private enum State {
        case unanswered
        case awaited(CheckedContinuation<Outcome, Never>)
        case answered(Outcome)
        case taken
    }

    private let state = Mutex(State.unanswered)

    /// - Parameter ask: Called at once, in a cancelled task too; it passes the answer on to the code that will give it.
    package static func wait(_ ask: (AwaitedAnswer) -> Void) async throws(LinkError) -> Value {
        try await wait(for: AwaitedAnswer(), ask)
    }

    /// - Parameters:
    ///   - limit: How long to wait.
    ///   - timeout: The error if no answer has come by then.
    package static func wait(
        within limit: Duration, or timeout: LinkError, _ ask: (AwaitedAnswer) -> Void
    ) async throws(LinkError) -> Value {
        let answer = AwaitedAnswer()
        let timer = Task {
            try await Task.sleep(for: limit.bounded)
            answer.give(.failure(timeout))
        }
        defer { timer.cancel() }
        return try await wait(for: answer, ask)
    }

    private static func wait(for answer: AwaitedAnswer, _ ask: (AwaitedAnswer) -> Void) async throws(LinkError) -> Value
    {
        try await withTaskCancellationHandler {
            ask(answer)
            return await withCheckedContinuation { answer.resume($0) }
        } onCancel: {
            answer.give(.failure(.cancelled))
        }.get()
    }

    /// Whether there is an answer: nobody waits for another one.
    var isGiven: Bool {
        state.withLock { state in
            switch state {
            case .unanswered, .awaited: false
            case .answered, .taken: true
            }
        }
    }

    /// - Returns: Whether this was the first answer. A later answer is dropped.
    @discardableResult
    package func give(_ outcome: Result<Value, LinkError>) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            switch state {
            case .unanswered:
                state = .answered(outcome)
                return (true, nil)
            case .awaited(let continuation):
                state = .taken
                return (true, continuation)
            case .answered, .taken: return (false, nil)
            }
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }

    private func resume(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            guard case .answered(let outcome) = state else {
                state = .awaited(continuation)
                return nil
            }
            state = .taken
            return outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }
}

extension AwaitedAnswer<Void> {
    /// Runs an app's own code, and cancels it when its time is over.
    static func ofCarrier(
        within limit: Duration, _ call: @escaping @Sendable () async throws -> Void
    ) async throws(LinkError) {
        let task = Task { try await call() }
        defer { task.cancel() }
        try await wait(within: limit, or: .timedOut(.writing)) { answer in
            Task { answer.give(await task.result.mapError(LinkError.init(ofCarrier:))) }
        }
    }
}
