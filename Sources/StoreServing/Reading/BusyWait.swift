import StoreFiles
import Synchronization

/// The waits of a connection for a writer of a live file. SQLite's own wait ends neither with a suspension nor with a task.
final class BusyWait: Sendable {
    private let limit: Duration
    private let gate: SuspensionGate
    private let begun = Mutex<ContinuousClock.Instant?>(nil)

    init(atMost limit: Duration, _ gate: SuspensionGate) {
        self.limit = limit
        self.gate = gate
    }

    /// - Parameter tries: How often SQLite has asked for this one lock.
    /// - Returns: Whether to try for the lock again, after a pause.
    func goesOn(tries: Int) -> Bool {
        let now = ContinuousClock.now
        let begun = begun.withLock { begun in
            if tries == 0 { begun = now }
            return begun ?? now
        }
        guard !gate.isSuspended, !Task.isCancelled, now - begun < limit else { return false }
        PlatformCalls.pause(min(.milliseconds(tries + 1), .milliseconds(25)))
        return true
    }
}
