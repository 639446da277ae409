public import GRDB
public import ShipProtocol
import StoreFiles
public import StoreInbox
import Synchronization
public import SystemPackage

/// Holds one generation of a store: all reads through a pin see the same rows and the same external files, across switches and
/// prunes, whichever process makes them.
///
/// A lock on the generation's folder keeps it there. It ends with `release`, with the last reference to the pin, or with the process,
/// however that ends. While the coordinator is suspended there is no lock; `resume` says whether the pin holds its generation again.
public final class Pin: Sendable, SuspensionGate.Holder {
    /// Its number, its folder, and what was shipped in it.
    public let generation: Generation

    public var manifest: Manifest { generation.manifest }

    private struct Held: ~Copyable {
        let store: OpenStore
        let lease: Lease
    }

    private struct State: ~Copyable {
        var held: Held?
        /// Why nothing is held, if nothing is.
        var reason: any Error = CoordinatorError.released
        /// The mark that says that this pin waits for its generation.
        var mark: SuspensionMark?
    }

    private let state: Mutex<State>
    private let followed: FollowedStore
    private let inbox: Inbox
    private let gate: SuspensionGate
    private let preparing: OpenStore.Preparation

    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(
        currentOf store: FollowedStore, in inbox: Inbox, _ gate: SuspensionGate,
        preparing: @escaping OpenStore.Preparation
    ) throws {
        let lease = try Lease(currentOf: store.name, in: inbox)
        generation = try CoordinatorError.looking { () throws(InboxError) in
            try Generation(lease.generation, of: store.name, in: inbox)
        }
        (followed, self.inbox, self.gate, self.preparing) = (store, inbox, gate, preparing)
        let opened = try Self.open(generation, lease.identity, store, gate, preparing)
        state = Mutex(State(held: Held(store: opened, lease: lease)))
        gate.add(self)
    }

    deinit {
        gate.remove(ObjectIdentifier(self))
        release()
    }

    /// - Parameter identity: Of the generation's folder.
    private static func open(
        _ generation: Generation, _ identity: FileStatus.Identity, _ store: FollowedStore, _ gate: SuspensionGate,
        _ preparing: @escaping OpenStore.Preparation
    ) throws -> OpenStore {
        // Most often it is the one that everybody reads.
        let latest = try store.latest()
        if latest.identity == identity { return latest }
        let folder = try CoordinatorError.wrapping { () throws(FileError) in try OpenFolder(generation.path) }
        return try OpenStore(of: generation.manifest.name, in: folder, gate, preparing: preparing)
    }

    /// Runs reads on the generation. They do not wait for each other.
    ///
    /// - Throws: `.released`, `.suspended`, `.generationGone`, and what `body` throws, `DatabaseError` among it.
    public func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try gate.run {
            let store = try store
            let queue = try store.connections.borrow(mayWait: false)
            defer { store.connections.giveBack(queue) }
            return try queue.read(body)
        }
    }

    /// Runs reads on the generation without keeping a thread waiting. Cancelling the task interrupts them.
    ///
    /// - Throws: `.released`, `.suspended`, `.generationGone`, and what `body` throws, `DatabaseError` among it.
    public func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await gate.run {
            let store = try store
            let queue = try store.connections.borrow(mayWait: true)
            defer { store.connections.giveBack(queue) }
            return try await queue.read(body)
        }
    }

    /// Where an external file is. It stays there for as long as the pin is held.
    ///
    /// - Throws: `.noExternalFile`, `.externalFileLeftOut`, `.externalFileMissingAtProducer`; `.released`, `.suspended`,
    ///   `.generationGone`.
    public func externalFile(_ name: ExternalFileName) throws(CoordinatorError) -> FilePath {
        do {
            _ = try store
        } catch {
            // Whatever else kept it from being held again, it is not held.
            throw error as? CoordinatorError ?? .suspended
        }
        if let absence = manifest.absence(of: name) { throw absence }
        return generation.path.appending(InboxLayout.supportFolder(manifest.name))
            .appending(name.folder.rawValue).appending(name.uuid)
    }

    /// Gives the generation back. Reads that are under way finish; later ones throw `.released`.
    public func release() {
        let held = state.withLock { state in
            state.reason = CoordinatorError.released
            return state.held.take()
        }
        _ = consume held
        remove(state.withLock { $0.mark.take() })
    }

    private var store: OpenStore {
        get throws {
            try state.withLock { state throws in
                guard let store = state.held?.store else { throw state.reason }
                return store
            }
        }
    }

    // MARK: Suspension

    /// Leaves its mark first: a pruning that finds no lock finds the mark.
    func letGo() {
        let held = state.withLock { state -> Held? in
            guard let held = state.held.take() else { return nil }
            state.reason = CoordinatorError.suspended
            state.mark = mark(held.lease.generation)
            return held
        }
        _ = consume held
    }

    /// Holds its generation again, if that still stands.
    ///
    /// - Returns: `false` for a pin that was released.
    /// - Throws: Why nothing is held.
    func takeAgain() throws -> Bool {
        let isHeld = try state.withLock { state throws -> Bool? in
            if state.held != nil { return true }
            switch state.reason {
            case CoordinatorError.released: return false
            case CoordinatorError.generationGone: throw state.reason
            default: return nil
            }
        }
        if let isHeld { return isHeld }
        do {
            return hold(try leaseAgain())
        } catch {
            guard stayWithout(error) else { return false }
            throw error
        }
    }

    private func leaseAgain() throws -> Held {
        let name = generation.folderName
        let lease = try Lease(again: name, of: manifest.name, in: inbox)
        let found = try CoordinatorError.looking { () throws(InboxError) in
            try Generation(name, of: manifest.name, in: inbox)
        }
        // In an inbox that was made anew another one may have the name.
        guard found.manifest == manifest else {
            throw CoordinatorError.generationGone(manifest.name, number: generation.number)
        }
        let store = try Self.open(generation, lease.identity, followed, gate, preparing)
        return Held(store: store, lease: lease)
    }

    /// - Returns: `false` if the pin has been released meanwhile.
    private func hold(_ held: consuming Held) -> Bool {
        var held: Held? = consume held
        let mark = state.withLock { state -> SuspensionMark? in
            // It may have been released meanwhile.
            if case CoordinatorError.released = state.reason { return nil }
            state.held = held.take()
            return state.mark.take()
        }
        remove(mark)
        return held == nil
    }

    /// - Returns: `false` if the pin has been released meanwhile.
    private func stayWithout(_ error: any Error) -> Bool {
        let (isReleased, mark) = state.withLock { state -> (Bool, SuspensionMark?) in
            if case CoordinatorError.released = state.reason { return (true, nil) }
            state.reason = error
            if case CoordinatorError.generationGone = error { return (false, state.mark.take()) }
            return (false, nil)
        }
        remove(mark)
        return !isReleased
    }

    /// - Returns: `nil` where this process may not write to the inbox: then the generation may go at once.
    private func mark(_ generation: GenerationName) -> SuspensionMark? {
        let mark = SuspensionMark(of: generation)
        guard let folder = try? inbox.open(), (try? folder.add(mark, of: manifest.name)) != nil else { return nil }
        return mark
    }

    private func remove(_ mark: SuspensionMark?) {
        if let mark { try? inbox.open().remove(mark, of: manifest.name) }
    }
}

extension Manifest {
    /// Why an external file is not in the shipment; `nil` if it is.
    func absence(of name: ExternalFileName) -> CoordinatorError? {
        if externalFiles.contains(where: { $0.name == name }) { return nil }
        if let left = omissions?.externalFiles.first(where: { $0.name == name }) {
            return .externalFileLeftOut(name, size: left.size)
        }
        return missingExternalFiles.contains(name) ? .externalFileMissingAtProducer(name) : .noExternalFile(name)
    }
}

/// A generation that stays while this value lives: a shared lock on its folder. Every pruning respects it, in any process, and
/// the kernel releases it when the holder dies.
struct Lease: ~Copyable, Sendable {
    let generation: GenerationName
    let identity: FileStatus.Identity
    private let lock: FolderLock

    /// How often, and how long, to try again to lease a generation that is being removed: ten seconds in all.
    private static let attempts = 2000
    private static let pause = Duration.milliseconds(5)

    /// Leases the current generation of a store.
    ///
    /// - Throws: `.noSuchStore`, `.inbox`, `.generationLocked`, `.file`.
    init(currentOf name: StoreName, in inbox: Inbox) throws(CoordinatorError) {
        for _ in 0..<Self.attempts {
            guard let generation = try CoordinatorError.current(of: name, in: inbox) else {
                throw CoordinatorError(withoutStore: name, in: inbox)
            }
            let folder = inbox.layout.generations(name).appending(generation.text)
            do throws(FileError) {
                if let lease = try Self.take(generation, at: folder) {
                    self = lease
                    return
                }
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { throw .file(error) }
                // Pruned after a look at the link: there is a newer one. A link that leads nowhere is no store.
                guard try CoordinatorError.current(of: name, in: inbox) != generation else {
                    throw CoordinatorError(withoutStore: name, in: inbox)
                }
                continue
            }
            PlatformCalls.pause(Self.pause)
        }
        throw .generationLocked(name)
    }

    /// Leases a generation that was let go of.
    ///
    /// - Throws: `.generationGone`, `.generationLocked`, `.file`.
    init(again generation: GenerationName, of name: StoreName, in inbox: Inbox) throws(CoordinatorError) {
        let folder = inbox.layout.generations(name).appending(generation.text)
        for _ in 0..<Self.attempts {
            do throws(FileError) {
                if let lease = try Self.take(generation, at: folder) {
                    self = lease
                    return
                }
            } catch {
                switch error.errno {
                case .noSuchFileOrDirectory, .notDirectory:
                    throw .generationGone(name, number: generation.number)
                default: throw .file(error)
                }
            }
            PlatformCalls.pause(Self.pause)
        }
        throw .generationLocked(name)
    }

    private init(_ generation: GenerationName, _ identity: FileStatus.Identity, _ lock: consuming FolderLock) {
        (self.generation, self.identity) = (generation, identity)
        self.lock = lock
    }

    /// - Returns: `nil` if it is being removed.
    private static func take(_ generation: GenerationName, at folder: FilePath) throws(FileError) -> Lease? {
        guard let lock = try FolderLock.take(.shared, on: folder) else { return nil }
        // Between the opening and the lock it may have been moved away, to be removed.
        let identity = try lock.file.status.identity
        guard try PlatformCalls.status(of: folder).identity == identity else { return nil }
        return Lease(generation, identity, lock)
    }
}
