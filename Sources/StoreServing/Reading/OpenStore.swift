import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox
import Synchronization
import SystemPackage

/// One file that is served: a generation's, or a file of its own. The holder of this value reads that very file, whatever becomes
/// of its name.
final class OpenStore: Sendable {
    /// Of the generation's folder, or of the file, when it was opened. In an inbox it names nothing else while this value
    /// lives: the folder is kept open. A file of its own is kept open by its connections.
    let identity: FileStatus.Identity
    let connections: ReadConnections

    /// The preparation of each connection before it is used.
    typealias Preparation = @Sendable (Database) throws -> Void

    /// Opens a generation's store, and tries it.
    ///
    /// - Parameters:
    ///   - open: The generation's folder, kept open for as long as more connections may be opened.
    ///   - gate: Of those who read it.
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(
        of name: StoreName, in open: consuming OpenFolder, _ gate: SuspensionGate, preparing: @escaping Preparation
    ) throws {
        let folder = open
        let path = folder.path
        let file = InboxLayout.storeFile(name)
        let identity = try CoordinatorError.wrapping { () throws(FileError) in try folder.status.identity }
        self.identity = identity
        connections = ReadConnections(in: gate) {
            let queue = try DatabaseQueue(
                opening: folder.pathByDescriptor.appending(file), live: nil, .checked, preparing)
            // A folder of the same name may stand where that one was.
            try CoordinatorError.wrapping { () throws(FileError) in
                try PlatformCalls.status(of: path).expect(identity, path)
            }
            return queue
        }
        try connections.openFirst()
    }

    /// Opens a file of its own, and tries it.
    ///
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(_ file: StoreFile, at path: FilePath, _ gate: SuspensionGate, preparing: @escaping Preparation) throws {
        if file.isSettled { try Self.checkSidecars(of: path) }
        let identity = try CoordinatorError.wrapping { () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: path).identity
        }
        self.identity = identity
        connections = ReadConnections(in: gate) {
            let live = file.busyTimeout.map { (busyTimeout: $0, gate: gate) }
            let queue = try DatabaseQueue(opening: path, live: live, .vouchedFor, preparing)
            try CoordinatorError.wrapping { () throws(FileError) in
                try PlatformCalls.statusFollowingLinks(of: path).expect(identity, path)
            }
            if file.isSettled { try queue.expectRollbackMode(path) }
            return queue
        }
        try connections.openFirst()
    }

    private static func checkSidecars(of path: FilePath) throws(CoordinatorError) {
        for ending in ["-wal", "-journal"] {
            let sidecar = FilePath(text: path.text + ending)
            if (try? PlatformCalls.status(of: sidecar)) != nil { throw .hasSidecar(path, sidecar) }
        }
    }
}

extension FileStatus {
    /// - Throws: `.noSuchFileOrDirectory` if this is another file: the one that was meant is gone.
    fileprivate func expect(_ identity: Identity, _ path: FilePath) throws(FileError) {
        guard self.identity == identity else { throw FileError(.open, path, .noSuchFileOrDirectory) }
    }
}

extension DatabaseQueue {
    /// Opens a file that must be a regular one: a pipe would never open.
    ///
    /// - Parameter live: How long to wait for a writer of a live file, unless its readers are suspended; `nil` for a settled one.
    fileprivate convenience init(
        opening path: FilePath, live: (busyTimeout: Duration, gate: SuspensionGate)?, _ trust: StoreTrust,
        _ preparing: @escaping OpenStore.Preparation
    ) throws {
        let status = try CoordinatorError.wrapping { () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: path)
        }
        guard status.kind == .file else { throw CoordinatorError.notAFile(path) }
        guard let live else {
            var configuration = Configuration.hardened(trust: trust, longestValue: status.size)
            configuration.prepare(preparing)
            try self.init(path: path.settledDatabaseURI, configuration: configuration)
            return
        }
        // The next commit may write values that are longer than the file is now.
        var configuration = Configuration.hardened(trust: trust, longestValue: .max)
        let wait = BusyWait()
        configuration.busyMode = .callback { tries in
            !live.gate.isSuspended && !Task.isCancelled && wait.goesOn(tries: tries, within: live.busyTimeout)
        }
        configuration.prepare(preparing)
        try self.init(path: path.databaseURI, configuration: configuration)
    }

    /// - Throws: `.inWALMode`.
    fileprivate func expectRollbackMode(_ path: FilePath) throws {
        let header = try unsafeRead { try DatabaseHeader(of: $0) }
        if header?.isInWALMode == true { throw CoordinatorError.inWALMode(path) }
    }
}

extension Generation {
    /// Reads the manifest of a generation that is in an inbox under a name.
    ///
    /// - Throws: `.badManifest` also for one that is of another store, or of another copy than the folder's name says.
    init(_ generation: GenerationName, of name: StoreName, in inbox: Inbox) throws(InboxError) {
        let folder = inbox.layout.generations(name).appending(generation.text)
        let read = try Generation(at: folder)
        let manifest = read.manifest
        guard manifest.name == name,
            GenerationName(number: generation.number, digest: manifest.store.sha256) == generation
        else {
            throw .badManifest(folder.appending(InboxLayout.manifestFile), flaw: "it is of another generation")
        }
        self = read
    }
}

/// The connections to one file, opened as they are needed, so that its reads run side by side.
///
/// A blocking read never waits for another one: a read inside a read, which the same connection could not serve, gets one of its
/// own. A program may begin thousands of asynchronous reads at once: they share `kept` connections.
final class ReadConnections: Sendable, SuspensionGate.Holder {
    /// How many connections stay open without a reader.
    static let kept = 4

    private let open: @Sendable () throws -> DatabaseQueue
    /// The open connections, and how many read each; and how many connections stay open without a reader: 0 after `letGo`.
    private let state: Mutex<(slots: [(queue: DatabaseQueue, readers: Int)], kept: Int)> = Mutex(([], kept))
    private let gate: SuspensionGate

    /// - Parameter open: Opens one more connection. It throws if that is no longer the same file.
    init(in gate: SuspensionGate, open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.gate = gate
        self.open = open
        gate.add(self)
    }

    deinit { gate.remove(ObjectIdentifier(self)) }

    /// A connection that is in use until it is given back.
    ///
    /// - Parameter mayWait: Whether the reader may share a connection, and wait for its turn. A blocking read must not: it may be
    ///   inside the read that it would wait for.
    /// - Throws: What `open` throws, if no open connection will do.
    func borrow(mayWait: Bool) throws -> DatabaseQueue {
        let free = state.withLock { state -> DatabaseQueue? in
            // The first ones first, so that their caches stay warm.
            var chosen = state.slots.firstIndex { $0.readers == 0 }
            if chosen == nil, mayWait, state.slots.count >= Self.kept {
                chosen = state.slots.indices.min { state.slots[$0].readers < state.slots[$1].readers }
            }
            guard let chosen else { return nil }
            state.slots[chosen].readers += 1
            return state.slots[chosen].queue
        }
        if let free { return free }
        let queue = try open()
        state.withLock { $0.slots.append((queue, 1)) }
        return queue
    }

    /// Opens the first connection, to find out whether it can be done.
    func openFirst() throws { giveBack(try borrow(mayWait: false)) }

    func giveBack(_ queue: DatabaseQueue) {
        // Connections are closed outside of the lock.
        let superfluous = state.withLock { state -> DatabaseQueue? in
            guard let index = state.slots.firstIndex(where: { $0.queue === queue }) else { return nil }
            state.slots[index].readers -= 1
            guard state.slots[index].readers == 0, state.slots.count > state.kept else { return nil }
            return state.slots.remove(at: index).queue
        }
        superfluous?.closeNow()
    }

    func letGo() {
        let idle = state.withLock { state -> [DatabaseQueue] in
            state.kept = 0
            // A connection with readers is closed by the last of them, which calls `giveBack`.
            for slot in state.slots where slot.readers > 0 { slot.queue.interrupt() }
            let idle = state.slots.filter { $0.readers == 0 }.map(\.queue)
            state.slots.removeAll { $0.readers == 0 }
            return idle
        }
        for queue in idle { queue.closeNow() }
    }
}

extension DatabaseQueue {
    /// Closes the connection before this returns, unless a reader has kept a statement: then it goes with that.
    fileprivate func closeNow() { try? close() }
}
