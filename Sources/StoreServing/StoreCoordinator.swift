public import GRDB
public import ShipProtocol
package import StoreFiles
package import StoreInbox
import Synchronization
public import SystemPackage

/// Opens the stores of an inbox, or single files, read-only and hardened, and hands them to readers.
///
/// Every read sees the newest generation there is when it begins, whichever process installed it, and finishes on that one, whole. Who
/// wants several reads to see the same takes a `Pin`. An app that is about to be suspended calls `suspend`, and `resume` when it goes on.
public final class StoreCoordinator: Sendable {
    /// How connections are made, and how changes are noticed.
    public struct Options: Sendable {
        /// Done to each connection before its first read: functions and collations that the app's queries need.
        public var prepareDatabase: @Sendable (Database) throws -> Void = { _ in }
        /// How `changes` learns of them.
        public var watching = Watching.automatic

        public init() {}
    }

    private enum Source {
        case inbox(Inbox, StoreListing)
        case files([FollowedStore])
    }

    private let source: Source
    private let options: Options
    let hub: ChangeHub
    /// `nil` for a coordinator of single files.
    let ageQuestions: AgeQuestions?
    let gate = SuspensionGate()
    /// Held while it is suspended or resumed, so that one comes after the other.
    let transition = Mutex(())
    /// Those of an inbox that have been asked for.
    private let followed = Mutex<[StoreName: FollowedStore]>([:])

    /// Reads what is in an inbox, now and later: it need not be there yet. Any number of processes may.
    public init(inbox root: FilePath, options: Options = Options()) {
        let inbox = Inbox(at: Self.absolute(root))
        source = .inbox(inbox, StoreListing(of: inbox))
        self.options = options
        hub = ChangeHub(inbox, options.watching)
        ageQuestions = AgeQuestions(in: inbox)
    }

    /// Reads files of their own, each opened when it is first read.
    ///
    /// - Throws: `.sameName`.
    public init(files: [StoreFile], options: Options = Options()) throws(CoordinatorError) {
        var names: Set<StoreName> = []
        for file in files where !names.insert(file.name).inserted { throw .sameName(file.name) }
        source = .files(
            files.map { [gate] file in
                FollowedStore(file, at: Self.absolute(file.path), gate, preparing: options.prepareDatabase)
            })
        self.options = options
        hub = ChangeHub(nil, options.watching)
        ageQuestions = nil
    }

    /// The process may change its folder later.
    private static func absolute(_ path: FilePath) -> FilePath { PlatformCalls.workingFolder.pushing(path) }

    /// The stores that can be read now: in an inbox sorted by name, else in the order given.
    ///
    /// - Throws: `.inbox(.noInbox)` while there is none, `.inbox(.file)`, `.suspended`.
    public var stores: [StoreName] {
        get throws(CoordinatorError) {
            _ = try gate.enter()
            defer { gate.leave() }
            switch source {
            case .files(let files): return files.map(\.name)
            case .inbox(_, let listing):
                return try CoordinatorError.looking { () throws(InboxError) in try listing.current() }
            }
        }
    }

    /// Runs reads on one store: the generation that is current now. They do not wait for each other.
    ///
    /// The `Database` is good inside of `body` only.
    ///
    /// - Throws: `CoordinatorError`, and what `body` throws, `DatabaseError` among it.
    public func read<Value>(_ selection: StoreSelection = .only, _ body: (Database) throws -> Value) throws -> Value {
        try gate.run { try store(selection).read(body) }
    }

    /// Runs reads on one store without keeping a thread waiting. Cancelling the task interrupts them.
    ///
    /// - Throws: `CoordinatorError`, and what `body` throws, `DatabaseError` among it.
    public func read<Value: Sendable>(
        _ selection: StoreSelection = .only, _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await gate.run { try await store(selection).read(body) }
    }

    /// Keeps the generation that is current now.
    ///
    /// - Throws: `.hasNoGenerations` for a file of its own; other `CoordinatorError`s, `DatabaseError`.
    public func pin(_ selection: StoreSelection = .only) throws -> Pin {
        try gate.run {
            let store = try store(selection)
            guard let inbox = store.inbox else { throw CoordinatorError.hasNoGenerations(store.name) }
            return try Pin(currentOf: store, in: inbox, gate, preparing: options.prepareDatabase)
        }
    }

    /// The changes from now on: another generation of a store, the first one of a new store, a file that was rewritten.
    ///
    /// A reader that subscribes before it reads misses no change.
    ///
    /// - Parameters:
    ///   - number: Of the generation that was told last, of a store of an inbox: where another one is current by now, that is the
    ///     first change. 0 for none; `nil` to be told only of what is still to come.
    ///   - rows: Whether to tell which rows of a changed table were inserted, updated and deleted. The two generations are compared
    ///     before the change is told, in the time that it takes to read the changed tables of both. They cannot be where the one before
    ///     is not kept any more.
    /// - Throws: `.file` if this process has no descriptor left; `.suspended`.
    public func changes(since number: Int? = nil, rows: Bool = false) throws(CoordinatorError) -> StoreChanges {
        _ = try gate.enter()
        defer { gate.leave() }
        return try CoordinatorError.wrapping { () throws(FileError) in
            switch source {
            case .inbox(let inbox, _): try StoreChanges(hub, gate, of: inbox, since: number, tellsRows: rows)
            case .files: try StoreChanges(hub, gate, of: nil)
            }
        }
    }

    /// Says that a file was replaced or restored where it stands: it is opened anew for the next read, and those who ask
    /// for changes are told.
    ///
    /// - Throws: `.noSuchStore` and the like; `.suspended`.
    public func noteRewritten(_ selection: StoreSelection = .only) throws(CoordinatorError) {
        _ = try gate.enter()
        defer { gate.leave() }
        try noteRestored(selection)
    }

    /// Does the same during a suspension too: nothing is opened.
    package func noteRestored(_ selection: StoreSelection) throws(CoordinatorError) {
        let store = try store(selection)
        store.forget()
        hub.noteRewritten(store.name)
    }

    /// Where a store is, for what is done to it as a whole.
    ///
    /// - Returns: The path of its file, and the pin of the generation that is current now, which stays for as long as the pin
    ///   lives; `nil` for a file of its own, which may be live.
    /// - Throws: `CoordinatorError`, `DatabaseError`.
    package func place(of selection: StoreSelection) throws -> (path: FilePath, pin: Pin?) {
        let store = try store(selection)
        guard store.inbox != nil else { return (store.path, nil) }
        let pin = try pin(.named(store.name))
        return (pin.generation.storePath, pin)
    }

    /// Opens a generation that has just become current as a reader would.
    ///
    /// - Parameter folder: The generation's.
    /// - Throws: What a reader would get.
    package func tryOpening(_ generation: Generation, in folder: consuming OpenFolder) throws {
        // The installer is no reader: it is not suspended with the readers.
        let store = try OpenStore(
            of: generation.manifest.name, in: folder, SuspensionGate(), preparing: options.prepareDatabase)
        let queue = try store.connections.borrow(mayWait: false)
        defer { store.connections.giveBack(queue) }
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
    }

    /// The inbox that a store is in, and its name.
    ///
    /// - Throws: `.hasNoGenerations` for a file of its own, `.noSuchStore` and the like, `.suspended`.
    func inbox(of selection: StoreSelection) throws(CoordinatorError) -> (Inbox, StoreName) {
        _ = try gate.enter()
        defer { gate.leave() }
        let store = try store(selection)
        guard let inbox = store.inbox else { throw .hasNoGenerations(store.name) }
        return (inbox, store.name)
    }

    private func store(_ selection: StoreSelection) throws(CoordinatorError) -> FollowedStore {
        switch source {
        case .files(let files): return try selection.choose(from: files, named: \.name)
        case .inbox(let inbox, _):
            // A name needs no list; whether it is there shows when it is read.
            if case .name(let text) = selection {
                guard let name = StoreName(text) else { throw .noSuchStore(text) }
                return follow(name, in: inbox)
            }
            return follow(try selection.choose(from: stores, named: { $0 }), in: inbox)
        }
    }

    private func follow(_ name: StoreName, in inbox: Inbox) -> FollowedStore {
        followed.withLock { followed in
            if let store = followed[name] { return store }
            let store = FollowedStore(name, in: inbox, gate, preparing: options.prepareDatabase)
            followed[name] = store
            return store
        }
    }
}
