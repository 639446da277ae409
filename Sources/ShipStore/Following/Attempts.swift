import Synchronization

/// Attempts to reach the other side, one after the other: how long to wait before the next, and what to say.
package final class Attempts: Sendable {
    private let keepsTrying: Bool
    /// No attempt begins later; `nil` for no end.
    private let end: ContinuousClock.Instant?
    /// Told why an attempt has failed; what goes on failing for the same reason is told once.
    private let tell: @Sendable (ShipmentError) -> Void
    /// How many have failed since the last success, and why the last one did.
    private let state = Mutex<(failures: Int, failure: ShipmentError?)>((0, nil))

    package init(
        keepsTrying: Bool = false, until end: ContinuousClock.Instant? = nil,
        telling tell: @escaping @Sendable (ShipmentError) -> Void
    ) {
        (self.keepsTrying, self.end, self.tell) = (keepsTrying, end, tell)
    }

    /// Something has arrived.
    package func succeeded() { state.withLock { $0 = (0, nil) } }

    /// Waits until it is time for the next attempt.
    ///
    /// - Throws: The failure, if there is no use in another attempt; `CancellationError`.
    package func rest(after failure: ShipmentError) async throws {
        try Task.checkCancellation()
        guard failure != .stopped, failure.mayPass || keepsTrying else { throw failure }
        let (failures, isNews) = state.withLock { state in
            defer { state = (state.failures + 1, failure) }
            return (state.failures + 1, state.failure != failure)
        }
        let delay = Backoff.ofConnecting.unevenDelay(after: failures)
        if let end, .now + delay >= end { throw failure }
        if isNews { tell(failure) }
        try await Task.sleep(for: delay)
    }
}
