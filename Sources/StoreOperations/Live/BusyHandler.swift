import StoreFiles
import Synchronization

/// SQLite's busy handler for one operation: how long to wait for other users of a store, and whether the operation was told to
/// stop.
package final class BusyHandler: Sendable {
    package let busyTimeout: Duration

    private struct State {
        var isStopped = false
        var waitingSince: ContinuousClock.Instant?
        var timeout: Duration
    }
    private let state: Mutex<State>

    package init(busyTimeout: Duration) {
        self.busyTimeout = busyTimeout
        state = Mutex(State(timeout: busyTimeout))
    }

    /// Shortens the waits from here on.
    func shorten(to timeout: Duration) { state.withLock { $0.timeout = min($0.timeout, timeout) } }

    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends a wait at once, and the operation at its next step.
    package func stop() { state.withLock { $0.isStopped = true } }

    package func check() throws(OperationError) {
        if isStopped { throw .stopped }
    }

    /// The same as SQLite's own busy timeout, which cannot be stopped.
    ///
    /// - Parameter tries: How often SQLite has asked for this one lock.
    /// - Returns: Whether to try for the lock again.
    func waits(tries: Int) -> Bool {
        guard isInTime(tries) else { return false }
        PlatformCalls.pause(min(.milliseconds(tries + 1), .milliseconds(25)))
        return true
    }

    /// Waits for a random time: a wait of regular length could meet the same users every time.
    ///
    /// - Parameter tries: How often this one lock was not to be had.
    /// - Returns: Whether to try for the lock again.
    func backsOff(tries: Int) -> Bool {
        guard isInTime(tries) else { return false }
        PlatformCalls.pause(.seconds(.random(in: 0.0005...min(0.002 * Double(tries + 1), 0.02))))
        return true
    }

    private func isInTime(_ tries: Int) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            if tries == 0 { state.waitingSince = now }
            return !state.isStopped && now - (state.waitingSince ?? now) < state.timeout
        }
    }
}
