import Dispatch
import StoreFiles
import Synchronization

/// What a suspension has come to.
public enum Suspension: Hashable, Sendable {
    /// Nothing of the inbox, and no store, is locked, leased or open any more through the coordinator and its pins.
    case complete
    /// So many reads had not ended when there was no more time: their bodies are at something else than the database. Locks on
    /// generations are given back all the same; what such a read has open is closed as it ends. A look for changes is one too.
    case readsUnderWay(Int)
    /// Somebody called `resume` meanwhile.
    case resumed
}

/// What has become of the pins of a coordinator, released ones apart, by the time it is resumed.
public struct Resumption: Sendable {
    /// They hold their generations, as before.
    public fileprivate(set) var kept: [Pin] = []
    /// Their generations were removed meanwhile: their reads throw `CoordinatorError.generationGone`.
    public fileprivate(set) var gone: [Pin] = []
    /// Their generations may be there, and cannot be held now.
    public fileprivate(set) var failed: [Failure] = []

    /// A pin that does not hold its generation. Its reads throw the error; another `resume` tries again.
    public struct Failure: Sendable {
        public let pin: Pin
        /// A `CoordinatorError`, or GRDB's `DatabaseError`.
        public let error: any Error
    }
}

extension StoreCoordinator {
    /// How long a suspension waits for reads to end, unless told otherwise: an app has some seconds when its time is over.
    public static let suspensionPatience = Duration.seconds(2)

    /// Lets go of every lock, lease, connection and descriptor, for the time in which the app is suspended: a system that finds an
    /// app suspended with a file in a shared container locked ends it (`0xdead10cc` on Apple's systems).
    ///
    /// - Reads that are under way are interrupted, and throw `CoordinatorError.suspended`. So do all that begin before `resume`,
    ///   whatever they go through: the coordinator, its pins, `stores` and `changes`.
    /// - What is pinned is let go of. It stays for an hour all the same, whoever prunes, unless its room is needed by a shipment, or
    ///   more than two generations of a store stay for that reason alone. The hour is one of the clock that nobody sets. In an inbox
    ///   that this process may not write to it need not stay.
    /// - Those who listen to `changes` wait; the first change after `resume` tells of everything since.
    /// - Copies and restorations that are under way are no reads: the app cancels their tasks first. So it ends a `Consumer`.
    ///
    /// To suspend what is suspended waits for reads once more, and does nothing else. A read must not wait for the suspension of
    /// its own coordinator: it would be waited for until there is no more time.
    ///
    /// - Parameter patience: How long to wait for interrupted reads to end. One that is at something else than the database
    ///   cannot be interrupted.
    /// - Returns: Whether everything has been let go of.
    @available(*, noasync, message: "without await it would keep a thread waiting")
    @discardableResult
    public func suspend(waiting patience: Duration = suspensionPatience) -> Suspension { letGo(within: patience) }

    /// Lets go of every lock, lease, connection and descriptor without keeping a thread of the caller's waiting: otherwise the same.
    /// Cancelling the task changes nothing.
    ///
    /// - Returns: Whether everything has been let go of.
    @discardableResult
    public func suspend(waiting patience: Duration = suspensionPatience) async -> Suspension {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.letGo(within: patience)) }
        }
    }

    private func letGo(within patience: Duration) -> Suspension {
        let end = ContinuousClock.now + patience
        let watches = transition.withLock { _ in
            gate.suspend()
            return hub.suspend()
        }
        gate.letGo()
        let isWatching = !watches.map { $0.end(by: end) }.allSatisfy(\.self)
        let suspension = gate.drain(until: end)
        return suspension == .complete && isWatching ? .readsUnderWay(1) : suspension
    }

    /// Takes up what was suspended: reads see the newest generation, pins hold theirs again as far as these still stand, and
    /// whoever listens to `changes` is told what has changed meanwhile.
    ///
    /// It may wait a moment for somebody who looks whether a pinned generation may go. To resume what is not suspended says what
    /// the pins hold, and tries again what could not be had before.
    ///
    /// - Returns: What has become of each pin.
    /// - Throws: `.file` if this process has no descriptor left with which to watch for changes: it stays suspended.
    @discardableResult
    public func resume() throws(CoordinatorError) -> Resumption {
        try transition.withLock { _ throws(CoordinatorError) in
            try CoordinatorError.wrapping { () throws(FileError) in try hub.resume() }
            gate.resume()
            // Who looked for changes until now was sent away.
            hub.notify()
            var resumption = Resumption()
            for pin in gate.pins {
                switch pin.takeAgain() {
                case .held: resumption.kept.append(pin)
                case .released: break
                case .over(CoordinatorError.generationGone): resumption.gone.append(pin)
                case .over(let error): resumption.failed.append(Resumption.Failure(pin: pin, error: error))
                }
            }
            return resumption
        }
    }
}
