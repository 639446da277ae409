public import ShipProtocol
import Synchronization

/// How stores are followed: what is shipped when, once they change.
public struct Following: Sendable {
    /// How long a store has to be quiet before it is shipped.
    public var settling = Duration.milliseconds(200)
    /// A store that is never quiet is shipped this long after the first change.
    public var longestDelay = Duration.seconds(5)
    /// The shortest time from the end of one shipment of a store to the copy for the next, to spare a battery.
    public var minimumInterval = Duration.zero
    /// The largest part of the time in which copies of a store are taken. Where the times above want more, this counts.
    public var shareOfCopying = 0.1
    /// As it counts: at least a thousandth.
    var copyingShare: Double { shareOfCopying > 0.001 ? shareOfCopying : 0.001 }
    /// Most bytes of RAM for copies, of all stores together: on Linux, where the disk of the copies does not clone files, copies within it are
    /// made there, and the newest goes to the disk at most once a minute, and at the end. With 0 each copy is made on the disk. A store with
    /// external files is always copied there.
    public var memory: Int64 = 64 * 1024 * 1024
    /// Whether a store goes on being followed after a failure that time alone does not mend, and is waited for where it is not there at the
    /// start.
    public var keepsTrying = false
    /// Lets the app speak to the follower.
    public var control = Control()

    public init() {}

    /// An app's word to those that follow its stores.
    public final class Control: Sendable {
        private let paused = Atomic(false)
        /// Called with each store that changes, `nil` for all of them.
        let changes = Registrations<StoreName?>()

        public init() {}

        /// A store has changed: it is looked at as if the system had told so.
        ///
        /// - Parameter name: `nil` for all.
        public func storeChanged(_ name: StoreName? = nil) { changes.call(name) }

        /// No copy is taken from now on; a shipment that is under way goes on.
        public func pause() { paused.store(true, ordering: .sequentiallyConsistent) }

        /// Stores that have changed meanwhile are shipped.
        public func resume() {
            paused.store(false, ordering: .sequentiallyConsistent)
            changes.call(nil)
        }

        var isPaused: Bool { paused.load(ordering: .sequentiallyConsistent) }
    }
}
