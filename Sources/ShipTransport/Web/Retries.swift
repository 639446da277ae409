import Synchronization

/// When a request that has failed is sent again.
///
/// The pause before it is of random length up to a bound that doubles, so that a fleet that failed together does not come again together.
/// Each further attempt costs a token, and what succeeds brings some back: a server that is down for all hears of each client about once
/// for each request. A server that asks for time gets it, also before requests that it has not seen.
package final class Retries: Sendable {
    /// Statuses of what may pass by itself [RFC 9110 sections 15.5.9 and 15.6, RFC 6585 section 4].
    package static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// How often a request is sent without getting any further.
    static let mostAttempts = 4
    /// How long a server is waited for that asks for time.
    static let longestWait = Duration.seconds(30)
    /// Most tokens; one is taken for each attempt after the first.
    private static let mostTokens = 10.0
    /// The tokens that a request brings back which has succeeded at once. Another brings back one token.
    private static let refund = 0.1

    private let pause: Duration
    private let state = Mutex(State(tokens: mostTokens))

    private struct State {
        var tokens: Double
        /// The server has asked not to be asked before.
        var start: ContinuousClock.Instant?
    }

    /// - Parameter pause: The bound of the first pause.
    package init(pause: Duration = .milliseconds(400)) { self.pause = pause }

    /// When a request may be sent for the first time.
    var start: ContinuousClock.Instant { state.withLock(\.start) ?? .now }

    /// Notes that a server asks for time.
    func wait(for time: Duration) {
        state.withLock { $0.start = .now + min(max(time, .zero), Self.longestWait) }
    }

    /// When to send a request again, which costs a token.
    ///
    /// - Parameters:
    ///   - failures: How often it has failed, at least 1.
    ///   - deadline: It is not sent later.
    /// - Returns: `nil` if it is not to be sent again.
    func time(after failures: Int, until deadline: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let bound = pause * (1 << min(failures - 1, Self.mostAttempts))
        let time = max(.now + bound * Double.random(in: 0...1), start)
        guard failures < Self.mostAttempts, time < deadline else { return nil }
        return state.withLock { state in
            guard state.tokens >= 1 else { return nil }
            state.tokens -= 1
            return time
        }
    }

    /// - Parameter failures: How often it has failed before.
    func succeeded(after failures: Int) {
        state.withLock { $0.tokens = min(Self.mostTokens, $0.tokens + (failures > 0 ? 1 : Self.refund)) }
    }
}
