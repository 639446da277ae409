import EssentialFoundation
import ShipStore
import Synchronization

/// What work waits for that has nothing to do: somebody's call, or a time.
final class Alarm: Sendable {
    private enum State {
        case quiet
        case rung
        case awaited(AwaitedAnswer<Void>)
    }

    private let state = Mutex(State.quiet)

    /// Wakes who waits, or who will wait next.
    func ring() {
        let waiting = state.withLock { state -> AwaitedAnswer<Void>? in
            guard case .awaited(let answer) = state else {
                state = .rung
                return nil
            }
            state = .quiet
            return answer
        }
        // It may just have stopped to wait, and may wait again by now.
        if waiting?.give(.success(())) == false { ring() }
    }

    /// Waits; one task at a time.
    ///
    /// - Parameter time: Until then at most.
    /// - Throws: If the task is cancelled.
    func wait(until time: Date) async throws(CancellationError) {
        let limit = Duration.seconds(max(time.timeIntervalSince(Date()), 0))
        do throws(LinkError) {
            try await AwaitedAnswer.wait(within: limit, or: .timedOut(.reading)) { answer in
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
        } catch {
            // Nobody is to be woken for what is over.
            state.withLock { if case .awaited = $0 { $0 = .quiet } }
            if error == .cancelled { throw CancellationError() }
        }
    }
}
