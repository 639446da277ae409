import StoreFiles
import Synchronization

/// SQLite's busy handler for one operation: how long to wait for other users of a store, and whether the operation was told to stop.
package final class BusyHandler: Sendable {
    package let busyTimeout: Duration

    private struct State {
        var isStopped = false
        var timeout: Duration
    }
    private let state: Mutex<State>
    private let wait = BusyWait()

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

    /// Waits as SQLite does. Parameter and result are those of `BusyWait.goesOn`.
    func waits(tries: Int) -> Bool { !isStopped && wait.goesOn(tries: tries, within: timeout) }

    /// Waits for a random time: a wait of regular length could meet the same users every time.
    ///
    /// - Parameter tries: How often this one lock was not to be had.
    /// - Returns: Whether to try for the lock again.
    func backsOff(tries: Int) -> Bool {
        guard !isStopped, wait.isInTime(tries: tries, within: timeout) else { return false }
        PlatformCalls.pause(.seconds(.random(in: 0.0005...min(0.002 * Double(tries + 1), 0.02))))
        return true
    }

    private var timeout: Duration { state.withLock { $0.timeout } }
}
