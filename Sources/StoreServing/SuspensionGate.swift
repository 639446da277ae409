import GRDB
import StoreFiles
import Synchronization

/// Lets reads begin unless their coordinator is suspended, knows how many are under way, and reaches what they have open.
final class SuspensionGate: Sendable {
    /// Something that has files open, or locked, and can do without for a while.
    protocol Holder: AnyObject, Sendable {
        /// Closes what nobody uses at the moment, and interrupts who uses the rest. Asked again until nothing is under way.
        func letGo()
    }

    private struct WeakHolder: Sendable {
        weak var holder: (any Holder)?
    }

    private struct State {
        var isSuspended = false
        /// How often it was: who began before one of these can tell.
        var suspensions = 0
        var underWay = 0
        var holders: [ObjectIdentifier: WeakHolder] = [:]
    }

    private let state = Mutex(State())
    /// Held while holders let go, so that none is asked to once reads may begin again.
    private let lettingGo = Mutex(())

    /// Between two interruptions of what is under way: a statement may have begun since.
    private static let pause = Duration.milliseconds(1)

    // MARK: Reads

    /// What a read is given as it begins, and gives back as it ends.
    struct Pass: Sendable {
        fileprivate let suspensions: Int
    }

    /// - Throws: `.suspended`.
    func enter() throws(CoordinatorError) -> Pass {
        let pass = state.withLock { state -> Pass? in
            guard !state.isSuspended else { return nil }
            state.underWay += 1
            return Pass(suspensions: state.suspensions)
        }
        guard let pass else { throw .suspended }
        return pass
    }

    func leave(_: Pass) {
        let isLast = state.withLock { state in
            state.underWay -= 1
            return state.isSuspended && state.underWay == 0
        }
        if isLast { letGo() }
    }

    /// Whether there was a suspension since a read began, and be it over.
    func wasSuspended(since pass: Pass) -> Bool { state.withLock { $0.suspensions > pass.suspensions } }

    /// - Throws: `.suspended`, also in place of what SQLite says of the interruption.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        let pass = try enter()
        defer { leave(pass) }
        do {
            return try body()
        } catch {
            throw explain(error, pass)
        }
    }

    /// - Throws: `.suspended`, also in place of what SQLite says of the interruption.
    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let pass = try enter()
        defer { leave(pass) }
        do {
            return try await body()
        } catch {
            throw explain(error, pass)
        }
    }

    private func explain(_ error: any Error, _ pass: Pass) -> any Error {
        guard let database = error as? DatabaseError,
            [.SQLITE_INTERRUPT, .SQLITE_ABORT].contains(database.resultCode), wasSuspended(since: pass)
        else { return error }
        return CoordinatorError.suspended
    }

    // MARK: Holders

    func add(_ holder: some Holder) {
        state.withLock { $0.holders[ObjectIdentifier(holder)] = WeakHolder(holder: holder) }
    }

    /// Before the holder is gone, and its address another one's.
    func remove(_ holder: ObjectIdentifier) {
        state.withLock { $0.holders[holder] = nil }
    }

    private var holders: [any Holder] { state.withLock { $0.holders.values.compactMap(\.holder) } }

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
