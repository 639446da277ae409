import EssentialFoundation
import ShipStore
import Synchronization

/// Lets a loop wait until it is woken, or until a time.
final class Alarm: Sendable {
    private enum State {
        case quiet
        case rung
        case awaited(AwaitedAnswer<Void>)
    }

    private let state = Mutex(State.quiet)

    /// Wakes the task that waits, or else the next one that will.
    func ring() {
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
    /// - Parameter time: The end of the wait, if `ring` does not end it before.
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
            // A later `ring` must not go to this wait.
            state.withLock { if case .awaited = $0 { $0 = .quiet } }
            if error == .cancelled { throw CancellationError() }
        }
    }
}

/// Exponential back-off: each delay is twice as long as the one before, up to a limit.
struct Backoff: Hashable, Sendable {
    let first: Duration
    let longest: Duration

    /// - Parameter failures: So far; at least 1.
    func delay(after failures: Int) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        return min(first * (1 << doublings), longest)
    }

    func time(after failures: Int, from now: Date) -> Date {
        now.addingTimeInterval(delay(after: failures) / .seconds(1))
    }

    /// A stored time, or now if the stored time is further away than any delay: then the clock was set back since.
    func bounded(_ time: Date, at now: Date) -> Date {
        time > now.addingTimeInterval(longest / .seconds(1)) ? now : time
    }
}
