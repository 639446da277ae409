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

/// How long to wait before something is tried once more: twice as long each time, up to a limit.
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

    /// A time that was written down, as it counts now: one that is further off than any wait is of a clock that was set back since.
    func bounded(_ time: Date, at now: Date) -> Date {
        time > now.addingTimeInterval(longest / .seconds(1)) ? now : time
    }
}
