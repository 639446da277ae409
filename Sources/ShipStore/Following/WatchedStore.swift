import ShipProtocol
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage

/// A store that is shipped again whenever it changes, to one receiver or to many: what the last look has found, and the newest copy. All
/// receivers share both.
final class WatchedStore: Sendable {
    let name: StoreName
    private let place: Place
    private let copying: CopyOptions
    private let following: Following
    private let digests = ExternalFileDigests()
    /// The copies that receivers have acknowledged and the memory does not have yet; `nil` where everything goes there at once.
    let recent: RecentBases?
    /// Whether several receivers may come for it: then the newest copy stays when nobody is being sent it.
    private let isShared: Bool
    private let turns = Turns<Work>()
    /// Rings when a version is gone.
    private let freed = Alarm()
    /// Called at each notice.
    let observers = Registrations<Void>()
    private let state = Mutex(State())

    /// Where it is. A live store need not be there.
    enum Place {
        case live(FilePath)
        case held(HeldStore)
    }

    /// Who does the same waits for the other, and finds the work done.
    private enum Work { case look, copy }

    struct Look: Sendable {
        /// `nil` where that cannot be told.
        var state: StoreState?
        /// The traces that it has left; `nil` if there may have been a change since it began.
        var left: StoreTraces?
    }

    /// How many states of the store are sent at a time, and how long to wait for one of them to be over before the oldest makes way for a
    /// new one.
    private static let mostVersions = 3
    private static let leastTimeOfCopying = Duration.milliseconds(50)
    /// Bytes a second.
    private static let slowestCopying = 5e6
    private static let patience = Duration.seconds(1)

    private struct State {
        /// The last look that has left something.
        var look: Look?
        var newest = Newest()
        /// All that there are, the oldest first.
        var versions: [Newest] = []
        /// No copy is taken before.
        var notBefore = ContinuousClock.now
    }

    private struct Newest {
        weak var version: StoreVersion?
        var kept: StoreVersion?
    }

    init(
        at place: Place, named name: StoreName, _ copying: CopyOptions, _ following: Following, isShared: Bool,
        before recent: RecentBases?
    ) {
        (self.place, self.name, self.copying, self.following) = (place, name, copying, following)
        (self.isShared, self.recent) = (isShared, recent)
    }

    /// The store as it is now: another one may be at its path.
    func shippable() throws(SnapshotError) -> Shippable {
        switch place {
        case .live(let path):
            var store = try SourceStore(at: path, copying)
            store.digests = digests
            return .live(Producer.Source(store: store, path: path, name: name, watched: self))
        case .held(let store): return .held(store, self)
        }
    }

    /// Whether it is an inbox's, so that others may have brought newer ones to a receiver.
    var isHeld: Bool { if case .held = place { true } else { false } }

    // MARK: Notices

    /// The files that a commit writes to: in WAL mode the log, in the other modes the store's file. A link is watched where it is, and
    /// where it leads. Of an inbox's store none.
    var files: [FilePath] {
        guard case .live(let path) = place else { return [] }
        let real = (try? PlatformCalls.realPath(of: path)) ?? path
        return StoreTraces.files(of: real) + (real == path ? [] : [path])
    }

    /// Whether a live store's file is there.
    var hasFile: Bool {
        guard case .live(let path) = place else { return false }
        return (try? PlatformCalls.statusFollowingLinks(of: path)) != nil
    }

    /// It may have changed.
    func notice() { observers.call() }

    // MARK: Looking

    /// The traces that tell, without opening the store, whether there has been a commit.
    var traces: StoreTraces {
        switch place {
        case .live(let path): StoreTraces(of: (try? PlatformCalls.realPath(of: path)) ?? path)
        case .held(let store): store.traces
        }
    }

    /// Finds the state of the store. It is opened only if there may have been a change since the last look.
    func look() async -> Look {
        if let known = lastLook { return known }
        guard let turn = try? await turns.take(.look) else { return Look() }
        defer { withExtendedLifetime(turn) {} }
        if let known = lastLook { return known }
        let before = await settledTraces()
        let state: StoreState? =
            switch try? shippable() {
            case .live(let source): try? await source.store.state()
            case .held(let store, _): store.state
            case nil: nil
            }
        return found(Look(state: state, left: left(since: before)))
    }

    /// The traces before a look; `nil` if that may not see all that has left them, and then another look is due: nothing else tells of it.
    private func settledTraces() async -> StoreTraces? {
        let before = traces
        guard case .live(let source) = try? shippable(), (try? await source.store.hasCommitUnderWay()) == true else {
            return before
        }
        notice()
        return nil
    }

    /// - Returns: `nil` if there may have been a change since.
    private var lastLook: Look? {
        guard let look = state.withLock({ $0.look }), look.left == traces else { return nil }
        return look
    }

    private func found(_ look: Look) -> Look {
        if look.left != nil { state.withLock { $0.look = look } }
        return look
    }

    /// The traces that have been left since then; `nil` if there may have been a change meanwhile.
    private func left(since before: StoreTraces?) -> StoreTraces? {
        let after = traces
        // To open a store may leave traces, too. If so, another look tells them from those of a commit.
        guard let before, before == after, before.isSettled else { return nil }
        return after
    }

    // MARK: Versions

    /// The newest version, if the store has not changed since; else a new one.
    ///
    /// - Returns: How long the copy took, if one was taken.
    func version(taking take: () async throws -> PreparedCopy) async throws -> (StoreVersion, copiedIn: Duration?) {
        try await version { gone in
            let before = await settledTraces()
            let copy = try await take()
            let (duration, left) = (copy.duration, left(since: before))
            return (StoreVersion(copy, leaving: left, isShared: isShared, gone: gone), duration)
        }
    }

    /// The current generation of an inbox.
    func version(of store: HeldStore) async throws -> StoreVersion {
        try await version { gone in
            (try store.version(workingIn: copying.temporaryFolder, isShared: isShared, gone: gone), .zero)
        }.0
    }

    /// - Parameter make: Makes a version, which calls what it is given when it is gone; returns how long it took, too.
    private func version(
        making make: (@escaping @Sendable () -> Void) async throws -> (StoreVersion, Duration)
    ) async throws -> (StoreVersion, copiedIn: Duration?) {
        if let known = await newest() { return (known, nil) }
        let turn = try await turns.take(.copy)
        defer { withExtendedLifetime(turn) {} }
        if let known = await newest() { return (known, nil) }
        // It goes before the next one takes room, unless somebody is being sent it.
        state.withLock { $0.newest = Newest() }
        try await makeRoom()
        let (version, duration) = try await make { [freed] in freed.ring() }
        _ = found(Look(state: version.state, left: version.left))
        // What takes longer than any disk needs was spent waiting: for a lock of the app's, or for this process to go on.
        let longest = Self.leastTimeOfCopying + .seconds(Double(version.manifest.totalSize) / Self.slowestCopying)
        let rest = min(duration, longest) * (1 / following.copyingShare - 1)
        state.withLock { state in
            state.newest = Newest(version: version, kept: isShared ? version : nil)
            state.versions.append(Newest(version: version))
            // The next one waits until this one was a small part of the time.
            state.notBefore = max(state.notBefore, .now + rest)
        }
        return (version, duration)
    }

    /// Nobody comes for the newest version any more.
    func letGo() { state.withLock { $0.newest.kept = nil } }

    /// Waits until there is room for one more version.
    private func makeRoom() async throws {
        var end = ContinuousClock.now + Self.patience
        while hasNoRoom {
            if end <= .now {
                state.withLock { $0.versions.first?.version }?.makingWay.call()
                end = .now + Self.patience
            }
            try await freed.wait(for: max(.zero, end - ContinuousClock.now))
        }
    }

    private var hasNoRoom: Bool {
        state.withLock { state in
            state.versions.removeAll { $0.version == nil }
            return state.versions.count >= Self.mostVersions
        }
    }

    /// - Returns: `nil` if there is none, or the store may have changed since.
    private func newest() async -> StoreVersion? {
        guard let version = state.withLock({ $0.newest.version }) else { return nil }
        if let left = version.left, left == traces { return version }
        guard let known = version.state, await look().state == known else { return nil }
        return version
    }

    /// Before when no copy is to be taken; `nil` if none has to be taken, or one may be.
    var rest: ContinuousClock.Instant? {
        let (version, notBefore) = state.withLock { ($0.newest.version, $0.notBefore) }
        guard notBefore > .now else { return nil }
        if let left = version?.left, left == traces { return nil }
        return notBefore
    }
}
