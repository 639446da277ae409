import Dispatch
import StoreFiles
import Synchronization

extension StoreCoordinator {
    /// How long a suspension waits for reads to end, unless told otherwise: an app has some seconds when its time is over.
    public static let suspensionTimeout = Duration.seconds(2)

    /// Lets go of every lock, lease, connection and descriptor, for the time in which the app is suspended: a system that finds an
    /// app suspended with a file in a shared container locked ends it (`0xdead10cc` on Apple's systems).
    ///
    /// - Reads that are under way are interrupted, and throw `CoordinatorError.suspended`. So do all that begin before `resume`,
    ///   whatever they go through: the coordinator, its pins, `stores` and `changes`.
    /// - Pinned generations are let go of. Pruning still keeps each for an hour, unless a shipment needs the space, or more than
    ///   two generations of a store would stay for that reason alone. The hour is one of a clock that cannot be set. In an inbox
    ///   that this process may not write to, they may be pruned at once.
    /// - Those who listen to `changes` wait; the first change after `resume` tells of everything since.
    /// - Copies and restorations that are under way are no reads: the app cancels their tasks first. So it ends a `Consumer`.
    ///
    /// A second suspension waits for reads once more, and does nothing else. A read must not wait for the suspension of its own
    /// coordinator: the suspension would wait for the read until its time is over.
    ///
    /// - Parameter timeout: How long to wait for interrupted reads to end. One that is at something else than the database
    ///   cannot be interrupted.
    /// - Returns: Whether everything has been let go of.
    @available(*, noasync, message: "without await it would keep a thread waiting")
    @discardableResult
    public func suspend(waiting timeout: Duration = suspensionTimeout) -> Suspension { letGo(within: timeout) }

    /// Lets go of every lock, lease, connection and descriptor without keeping a thread of the caller's waiting: otherwise the same.
    /// Cancelling the task changes nothing.
    ///
    /// - Returns: Whether everything has been let go of.
    @discardableResult
    public func suspend(waiting timeout: Duration = suspensionTimeout) async -> Suspension {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.letGo(within: timeout)) }
        }
    }

    private func letGo(within timeout: Duration) -> Suspension {
        let end = ContinuousClock.now + timeout
        let watches = transition.withLock { _ in
            gate.suspend()
            return hub.suspend()
        }
        gate.letGo()
        let isWatching = !watches.map { $0.end(by: end) }.allSatisfy(\.self)
        let suspension = gate.drain(until: end)
        return suspension == .complete && isWatching ? .readsUnderWay(1) : suspension
    }

    /// Ends a suspension: reads see the newest generation, pins hold theirs again if these still exist, and subscribers of
    /// `changes` are told what has changed meanwhile.
    ///
    /// It may wait a moment for a process that is pruning. Without a suspension it says what the pins hold, and tries again to
    /// hold the generations that could not be held before.
    ///
    /// - Returns: What has become of each pin.
    /// - Throws: `.file` if this process has no descriptor left with which to watch for changes: it stays suspended.
    @discardableResult
    public func resume() throws(CoordinatorError) -> Resumption {
        try transition.withLock { _ throws(CoordinatorError) in
            try CoordinatorError.wrapping { () throws(FileError) in try hub.resume() }
            gate.resume()
            // Subscribers that looked for changes until now were sent away.
            hub.notify()
            var resumption = Resumption()
            for case let pin as Pin in gate.holders {
                do {
                    if try pin.takeAgain() { resumption.kept.append(pin) }
                } catch CoordinatorError.generationGone {
                    resumption.gone.append(pin)
                } catch {
                    resumption.failed.append((pin, error))
                }
            }
            return resumption
        }
    }
}
