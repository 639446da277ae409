package import EssentialFoundation

/// Exponential back-off: each delay is twice as long as the one before, up to a limit.
package struct Backoff: Hashable, Sendable {
    package let first: Duration
    package let longest: Duration

    /// Of attempts to reach a receiver.
    package static let ofConnecting = Backoff(first: .milliseconds(500), longest: .seconds(60))

    package init(first: Duration, longest: Duration) { (self.first, self.longest) = (first, longest) }

    /// - Parameter failures: So far; at least 1.
    package func delay(after failures: Int) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        return min(first * (1 << doublings), longest)
    }

    /// The same, up to a half less: those that failed at the same moment do not all come again at the same moment.
    package func unevenDelay(after failures: Int) -> Duration { delay(after: failures) * Double.random(in: 0.5...1) }

    package func time(after failures: Int, from now: Date) -> Date {
        now.addingTimeInterval(delay(after: failures) / .seconds(1))
    }

    /// A stored time, or now if the stored time is further away than any delay: then the clock was set back since.
    package func bounded(_ time: Date, at now: Date) -> Date {
        time > now.addingTimeInterval(longest / .seconds(1)) ? now : time
    }
}
