import ShipLinks
import Synchronization

/// Lets a loop wait until it is woken, or until a time.
package final class Alarm: Sendable {
    private enum State {
        case quiet
        case rung
        case awaited(AwaitedAnswer<Void>)
    }

    private let state = Mutex(State.quiet)

    package init() {}

    /// Wakes the task that waits, or else the next one that will.
    package func ring() {
        let waiting = state.withLock { state -> AwaitedAnswer<Void>? in
            guard case .awaited(let answer) = state else {
                state = .rung
                return nil
            }
            state = .quiet
            return answer
        }
        // The task may just have stopped waiting, and may wait again by now.
        if waiting?.give(.success(())) == false { ring() }
    }

    /// Waits; one task at a time.
    ///
    /// - Parameter limit: How long to wait if `ring` does not end it before; `nil` for as long as it takes.
    package func wait(for limit: Duration?) async throws(CancellationError) {
        do throws(LinkError) {
            guard let limit else { return try await AwaitedAnswer.wait(listen) }
            try await AwaitedAnswer.wait(within: limit, or: .timedOut(.reading), listen)
        } catch {
            // A later `ring` must not go to this wait.
            state.withLock { if case .awaited = $0 { $0 = .quiet } }
            if error == .cancelled { throw CancellationError() }
        }
    }

    private func listen(_ answer: AwaitedAnswer<Void>) {
        let hasRung = state.withLock { state -> Bool in
            if case .rung = state {
                state = .quiet
                return true
            }
            state = .awaited(answer)
            return false
        }
        if hasRung { answer.give(.success(())) }
    }
}
