import ShipProtocol
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage

/// A store that is followed: when it is to be looked at, what the last look has left, and what its receiver has.
final class FollowedStore: Sendable {
    let path: FilePath
    let name: StoreName
    private let copying: CopyOptions
    private let following: Following
    private let state = Mutex(State())

    private struct State {
        /// The first and the last notice of a change since the last look began.
        var noticed: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
        /// No copy is taken before.
        var notBefore = ContinuousClock.now
        /// What the last look has left; `nil` if there may have been a change since it began.
        var left: StoreTraces?
        /// In which the store was when the receiver acknowledged it.
        var shipped: StoreState?
        /// Looks that have found nothing new, one after the other.
        var looksInVain = 0
        var failures = 0
        /// Why the last shipment did not arrive: it is said once.
        var failure: ShipmentError?
        /// Why the store is no longer followed.
        var end: ShipmentError?
    }

    /// How often a store is shipped that is refused for good.
    private static let mostAttempts = 3
    private static let backoff = Backoff(first: .seconds(1), longest: .seconds(300))
    /// A look may make notices itself, and where a clock was set back nothing tells them from those of a commit.
    private static let mostLooksInVain = 3
    private static let backoffInVain = Backoff(first: .seconds(1), longest: .seconds(5))

    init(_ path: FilePath, named name: StoreName, _ copying: CopyOptions, _ following: Following) {
        (self.path, self.name, self.copying, self.following) = (path, name, copying, following)
    }

    /// Why the store is no longer followed; `nil` if it is.
    var end: ShipmentError? { state.withLock { $0.end } }

    /// It may have changed.
    func notice() {
        let now = ContinuousClock.now
        state.withLock { $0.noticed = ($0.noticed?.first ?? now, now) }
    }

    /// When it is to be looked at; `nil` if nothing has been noticed since the last look.
    var due: ContinuousClock.Instant? {
        state.withLock { state in
            guard state.end == nil, let noticed = state.noticed else { return nil }
            let settled = min(noticed.last + following.settling, noticed.first + following.longestDelay)
            return max(settled, state.notBefore)
        }
    }

    /// The store as it is now: another one may be at its path.
    func source() throws(SnapshotError) -> SourceStore { try SourceStore(at: path, copying) }

    /// What a commit writes to: in WAL mode the log, in the other modes the store's file. A link is watched where it is, and where it leads.
    var files: [FilePath] {
        let real = (try? PlatformCalls.realPath(of: path)) ?? path
        return StoreTraces.files(of: real) + (real == path ? [] : [path])
    }

    // MARK: Looking

    private var traces: StoreTraces { StoreTraces(of: (try? PlatformCalls.realPath(of: path)) ?? path) }

    /// Looks at the store, or takes a copy.
    ///
    /// What changes while this is under way is noticed, and counts as a change since.
    func looking<Result>(_ look: () async throws -> Result) async rethrows -> Result {
        let before = traces
        state.withLock { ($0.noticed, $0.left) = (nil, nil) }
        let result = try await look()
        let after = traces
        // To open a store may leave traces, too. If so, another look tells them from those of a commit.
        if before == after, before.isSettled { state.withLock { $0.left = after } }
        return result
    }

    /// Whether the receiver may not have what the store holds now.
    func mayHaveChanged() async -> Bool {
        let (left, shipped) = state.withLock { state in
            // A notice that comes from here on counts.
            state.noticed = nil
            return (state.left, state.shipped)
        }
        if let left, left == traces { return false }
        guard let shipped else { return true }
        let hasChanged = await looking { try? await source().state() } != shipped
        if !hasChanged { state.withLock { Self.lookInVain(&$0) } }
        return hasChanged
    }

    private static func lookInVain(_ state: inout State) {
        state.looksInVain += 1
        guard state.looksInVain > mostLooksInVain else { return }
        let delay = backoffInVain.delay(after: state.looksInVain - mostLooksInVain)
        state.notBefore = max(state.notBefore, .now + delay)
    }

    // MARK: Shipping

    /// The same order, which tells this store what becomes of it.
    func follow(_ order: ProducerSession.Order, from source: SourceStore?) -> ProducerSession.Order {
        let copied = Mutex<StoreState?>(nil)
        var followed = order
        followed.unchanged = { [self] in
            await looking {
                let state = try? await source?.state()
                copied.withLock { $0 = state }
                return await order.unchanged()
            }
        }
        followed.prepare = { [self] in
            let shipment = try await looking { try await order.prepare() }
            copied.withLock { $0 = shipment.state }
            rest(after: shipment.copyDuration ?? .zero)
            return shipment
        }
        followed.ended = { [self] result in
            if isNews(result) { order.ended(result) }
            ended(result, copied.withLock { $0 })
        }
        return followed
    }

    /// A copy has been taken: the next one waits until this one was a small part of the time.
    private func rest(after duration: Duration) {
        let share = max(following.shareOfCopying, 0.001)
        state.withLock { $0.notBefore = max($0.notBefore, .now + duration * (1 / share - 1)) }
    }

    /// Whether a result is to be told: what goes on failing for the same reason is told once.
    private func isNews(_ result: Result<Delivery, ShipmentError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error) where error.breaksLink || error == .stopped: false
        case .failure(let error): state.withLock { $0.failure != error }
        }
    }

    /// - Parameter shipped: The state in which the store was, if that could be told, when it was shipped.
    private func ended(_ result: Result<Delivery, ShipmentError>, _ shipped: StoreState?) {
        state.withLock { state in
            switch result {
            case .success(let delivery):
                (state.shipped, state.failures, state.failure) = (shipped, 0, nil)
                if delivery.receipt?.outcome == .unchanged {
                    Self.lookInVain(&state)
                } else {
                    state.looksInVain = 0
                }
                state.notBefore = max(state.notBefore, .now + following.minimumInterval)
            case .failure(let error):
                // It has not arrived, so it counts as changed.
                state.left = nil
                let now = ContinuousClock.now
                state.noticed = state.noticed ?? (now, now)
                if error.breaksLink || error == .stopped { return }
                state.failure = error
                state.failures += 1
                state.notBefore = max(state.notBefore, now + Self.backoff.unevenDelay(after: state.failures))
                // A store that is being made anew, or migrated, may be refused for a moment.
                if !error.mayPass, !following.keepsTrying, state.failures >= Self.mostAttempts { state.end = error }
            }
        }
    }
}
