package import StoreFiles
import Synchronization
package import SystemPackage

/// How long an operation waits for a store's other users, and whether it is still wanted.
package final class Patience: Sendable {
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

    /// From here on waiting is worth less.
    func shorten(to timeout: Duration) { state.withLock { $0.timeout = min($0.timeout, timeout) } }

    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Ends the waiting, and the work at its next step.
    package func stop() { state.withLock { $0.isStopped = true } }

    package func check() throws(OperationError) {
        if isStopped { throw .stopped }
    }

    /// SQLite's own busy timeout cannot be stopped; this is the same with an end to it.
    ///
    /// - Parameter tries: How often SQLite has asked for this one lock.
    /// - Returns: Whether to try for the lock again.
    func waits(tries: Int) -> Bool {
        guard isInTime(tries) else { return false }
        PlatformCalls.pause(min(.milliseconds(tries + 1), .milliseconds(25)))
        return true
    }

    /// Waits as long as chance says, in which others come and go: who tries at regular times can meet them always.
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

extension FolderLock {
    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    /// Takes the lock of a folder, and waits for it as long as the patience lasts: flock(2) itself cannot be told to stop.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`.
    package static func take(
        _ kind: Kind, on folder: FilePath, _ patience: Patience
    ) throws(OperationError) -> FolderLock {
        let end = ContinuousClock.now + patience.busyTimeout
        while true {
            let lock = try OperationError.wrapping { () throws(FileError) in try take(kind, on: folder) }
            if let lock { return lock }
            try patience.check()
            guard ContinuousClock.now < end else { throw .folderBusy(folder, waited: patience.busyTimeout) }
            PlatformCalls.pause(Self.pause)
        }
    }

    /// Does something while the folder is locked, as soon as it can be.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`; what `body` throws.
    static func holding<Result>(
        _ kind: Kind, on folder: FilePath, _ patience: Patience, _ body: () throws(OperationError) -> Result
    ) throws(OperationError) -> Result {
        let lock = try take(kind, on: folder, patience)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}
