import GRDB
import StoreFiles
import Synchronization

/// Lets reads begin unless their coordinator is suspended, knows how many are under way, and reaches what they have open.
final class SuspensionGate: Sendable {
    /// Something that holds files open, or locked, and can let go of them for a while.
    protocol Holder: AnyObject, Sendable {
        /// Closes connections without a reader, and interrupts the readers of the others. Called again until no read is under way.
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

    /// Whether there was a suspension since a read began after so many, even if it is over.
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
            [.SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_BUSY].contains(database.resultCode)
        else { return error }
        if wasSuspended(since: suspensions) { return CoordinatorError.suspended }
        // A wait for a writer ends with its task.
        return database.resultCode == .SQLITE_BUSY && Task.isCancelled ? CancellationError() : error
    }

    // MARK: Holders

    func add(_ holder: some Holder) {
        state.withLock { $0.holders[ObjectIdentifier(holder)] = { [weak holder] in holder } }
    }

    /// Before the holder is gone, and its address another one's.
    func remove(_ holder: ObjectIdentifier) {
        state.withLock { $0.holders[holder] = nil }
    }

    var holders: [any Holder] { state.withLock { $0.holders.values.compactMap { $0() } } }

    // MARK: Suspension

    var isSuspended: Bool { state.withLock { $0.isSuspended } }

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
