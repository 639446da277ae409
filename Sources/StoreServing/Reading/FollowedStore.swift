import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// The file that a store's name leads to: opened once, and anew when the name leads to something else.
///
/// Each read looks at the name, one stat(2), so that a read that begins after a switch sees what it switched to. A read
/// that is under way keeps what it has.
final class FollowedStore: Sendable, SuspensionGate.Holder {
    let name: StoreName
    /// Where the store is, if it is in an inbox.
    let inbox: Inbox?
    /// The link to the current generation, or the file.
    let path: FilePath
    private let open: @Sendable () throws -> OpenStore
    private let held = Mutex<OpenStore?>(nil)
    private let gate: SuspensionGate

    /// The current generations of a store.
    init(_ name: StoreName, in inbox: Inbox, _ gate: SuspensionGate, preparing: @escaping OpenStore.Preparation) {
        self.name = name
        self.inbox = inbox
        self.gate = gate
        path = inbox.layout.current(name)
        open = {
            do {
                let folder = try inbox.open()
                guard let generation = try folder.currentName(of: name) else {
                    throw CoordinatorError(withoutStore: name, in: inbox)
                }
                return try OpenStore(of: name, in: folder.folder(of: generation, name), gate, preparing: preparing)
            } catch InboxError.file(let error) {
                throw CoordinatorError.file(error)
            } catch let error as InboxError {
                throw CoordinatorError.inbox(error)
            }
        }
        gate.add(self)
    }

    /// A file of its own, by its absolute path.
    init(_ file: StoreFile, at path: FilePath, _ gate: SuspensionGate, preparing: @escaping OpenStore.Preparation) {
        name = file.name
        inbox = nil
        self.path = path
        self.gate = gate
        open = { try OpenStore(file, at: path, gate, preparing: preparing) }
        gate.add(self)
    }

    deinit { gate.remove(ObjectIdentifier(self)) }

    /// The store that the name leads to now.
    ///
    /// - Throws: `.noSuchStore` or `.inbox` if it leads nowhere, `CoordinatorError`, `DatabaseError`.
    func latest() throws -> OpenStore {
        while true {
            let identity: FileStatus.Identity
            do throws(CoordinatorError) {
                identity = try look()
            } catch {
                switch error {
                case .noSuchStore, .inbox: forget()
                default: break
                }
                throw error
            }
            if let held = held.withLock({ $0 }), held.identity == identity { return held }
            if let opened = try reopen() { return opened }
        }
    }

    /// Opens what the name leads to, unless another thread just did.
    ///
    /// - Returns: `nil` if it went away meanwhile, and the name leads to something else now.
    private func reopen() throws -> OpenStore? {
        // The dropped store is closed outside of the lock.
        let (opened, _) = try held.withLock { held throws -> (OpenStore?, OpenStore?) in
            let identity = try look()
            let before = held
            if let before, before.identity == identity { return (before, nil) }
            held = nil
            do {
                held = try open()
            } catch  where Self.isGone(error) {
                guard try look() != identity else { throw error }
            }
            return (held, before)
        }
        return opened
    }

    /// Drops what is held: the next read opens anew.
    func forget() {
        _ = held.withLock { $0.take() }
    }

    /// While a read opens it, nothing is dropped: that read is under way.
    func letGo() {
        _ = held.withLockIfAvailable { $0.take() }
    }

    private func look() throws(CoordinatorError) -> FileStatus.Identity {
        do throws(FileError) {
            return try PlatformCalls.statusFollowingLinks(of: path).identity
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw CoordinatorError(withoutStore: name, in: inbox)
            default: throw .file(error)
            }
        }
    }

    /// Whether an error says that the file to be opened has lost its name.
    private static func isGone(_ error: any Error) -> Bool {
        switch error {
        case let error as DatabaseError: error.resultCode == .SQLITE_CANTOPEN
        case CoordinatorError.file(let error): error.errno == .noSuchFileOrDirectory
        default: false
        }
    }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let (store, queue) = try borrow(mayWait: false)
        defer { store.connections.giveBack(queue) }
        return try queue.read(body)
    }

    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        let (store, queue) = try borrow(mayWait: true)
        defer { store.connections.giveBack(queue) }
        return try await queue.read(body)
    }

    /// A connection to what the name leads to. If that is pruned before one more connection to it is open, the next one will do:
    /// no reader has been promised this one.
    private func borrow(mayWait: Bool) throws -> (OpenStore, DatabaseQueue) {
        while true {
            let store = try latest()
            do {
                return (store, try store.connections.borrow(mayWait: mayWait))
            } catch  where Self.isGone(error) {
                guard try look() != store.identity else { throw error }
            }
        }
    }
}
