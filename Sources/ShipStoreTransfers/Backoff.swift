import EssentialFoundation

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
