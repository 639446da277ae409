import Synchronization

/// The waits of one user of SQLite for a lock: SQLite's own busy timeout ends neither with a task nor when it is told to.
package final class BusyWait: Sendable {
    private let begun = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    /// - Parameter tries: How often this one lock was not to be had before.
    package func isInTime(tries: Int, within limit: Duration) -> Bool {
        let now = ContinuousClock.now
        return begun.withLock { begun in
            if tries == 0 { begun = now }
            return now - (begun ?? now) < limit
        }
    }

    /// The same as SQLite's own busy timeout.
    ///
    /// - Returns: Whether to try for the lock again, after a pause.
    package func goesOn(tries: Int, within limit: Duration) -> Bool {
        guard isInTime(tries: tries, within: limit) else { return false }
        PlatformCalls.pause(min(.milliseconds(tries + 1), .milliseconds(25)))
        return true
    }
}
