import Dispatch
import GRDB
import StoreFiles
import Synchronization

/// The result of a suspension.
public enum Suspension: Hashable, Sendable {
    /// Nothing of the inbox, and no store, is locked, leased or open any more through the coordinator and its pins.
    case complete
    /// This number of reads had not ended when the time was over: their bodies are busy with something other than the database.
    /// Locks on generations are given back all the same; the connection of such a read is closed as the read ends. A look for
    /// changes counts as a read.
    case readsUnderWay(Int)
    /// `resume` was called meanwhile.
    case resumed
}

/// The state of a coordinator's pins, without the released ones, once it is resumed.
public struct Resumption: Sendable {
    /// They hold their generations, as before.
    public fileprivate(set) var kept: [Pin] = []
    /// Their generations were removed meanwhile: their reads throw `CoordinatorError.generationGone`.
    public fileprivate(set) var gone: [Pin] = []
    /// Their generations may be there, and cannot be held now. Their reads throw the error, a `CoordinatorError` or GRDB's
    /// `DatabaseError`; another `resume` tries again.
    public fileprivate(set) var failed: [(pin: Pin, error: any Error)] = []
}

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
            for pin in gate.pins {
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

/// Lets reads begin unless their coordinator is suspended, knows how many are under way, and reaches what they have open.
final class SuspensionGate: Sendable {
    /// Something that holds files open, or locked, and can let go of them for a while.
    protocol Holder: AnyObject, Sendable {
        /// Closes connections without a reader, and interrupts the readers of the others. Called again until no read is under
        /// way.
        func letGo()
    }

    private struct State {
        var isSuspended = false
        /// The number of suspensions so far: a read compares it with the number at its beginning.
        var suspensions = 0
        var underWay = 0
        /// Each refers to its holder weakly, and gives `nil` once that is gone.
        var holders: [ObjectIdentifier: @Sendable () -> (any Holder)?] = [:]
    }

    private let state = Mutex(State())
    /// Held while holders let go, so that none is asked to once reads may begin again.
    private let lettingGo = Mutex(())

    /// Between two interruptions of what is under way: a statement may have begun since.
    private static let pause = Duration.milliseconds(1)

    // MARK: Reads

    /// Begins a read, which `leave` ends.
    ///
    /// - Returns: The number of suspensions so far.
    /// - Throws: `.suspended`; then no read has begun.
    func enter() throws(CoordinatorError) -> Int {
        let suspensions = state.withLock { state -> Int? in
            guard !state.isSuspended else { return nil }
            state.underWay += 1
            return state.suspensions
        }
        guard let suspensions else { throw .suspended }
        return suspensions
    }

    func leave() {
        let isLast = state.withLock { state in
            state.underWay -= 1
            return state.isSuspended && state.underWay == 0
        }
        if isLast { letGo() }
    }

    /// Whether there was a suspension since a read began, even if it is over.
    ///
    /// - Parameter before: The number of suspensions as the read began.
    func wasSuspended(since before: Int) -> Bool { state.withLock { $0.suspensions > before } }

    /// - Throws: `.suspended`, also in place of what SQLite says of the interruption.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        let suspensions = try enter()
        defer { leave() }
        do {
            return try body()
        } catch {
            throw explain(error, suspensions)
        }
    }

    /// - Throws: `.suspended`, also in place of what SQLite says of the interruption.
    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let suspensions = try enter()
        defer { leave() }
        do {
            return try await body()
        } catch {
            throw explain(error, suspensions)
        }
    }

    private func explain(_ error: any Error, _ suspensions: Int) -> any Error {
        guard let database = error as? DatabaseError,
            [.SQLITE_INTERRUPT, .SQLITE_ABORT].contains(database.resultCode), wasSuspended(since: suspensions)
        else { return error }
        return CoordinatorError.suspended
    }

    // MARK: Holders

    func add(_ holder: some Holder) {
        state.withLock { $0.holders[ObjectIdentifier(holder)] = { [weak holder] in holder } }
    }

    /// Before the holder is gone, and its address another one's.
    func remove(_ holder: ObjectIdentifier) {
        state.withLock { $0.holders[holder] = nil }
    }

    private var holders: [any Holder] { state.withLock { $0.holders.values.compactMap { $0() } } }

    var pins: [Pin] { holders.compactMap { $0 as? Pin } }

    // MARK: Suspension

    /// From here on no read begins.
    func suspend() {
        state.withLock { state in
            if !state.isSuspended { state.suspensions += 1 }
            state.isSuspended = true
        }
    }

    func resume() {
        lettingGo.withLock { _ in state.withLock { $0.isSuspended = false } }
    }

    /// Asks every holder once, as long as it is suspended.
    func letGo() {
        lettingGo.withLock { _ in
            guard state.withLock({ $0.isSuspended }) else { return }
            for holder in holders { holder.letGo() }
        }
    }

    /// Lets go again and again until no read is under way.
    func drain(until end: ContinuousClock.Instant) -> Suspension {
        while true {
            let (isSuspended, underWay) = state.withLock { ($0.isSuspended, $0.underWay) }
            guard isSuspended else { return .resumed }
            letGo()
            if underWay == 0 { return .complete }
            if .now >= end { return .readsUnderWay(underWay) }
            PlatformCalls.pause(Self.pause)
        }
    }
}
