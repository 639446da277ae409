public import GRDB
public import ShipProtocol
import StoreFiles
public import StoreInbox
import Synchronization
public import SystemPackage

/// One generation of a store for as long as one wishes: all reads through a pin see the same rows and the same external
/// files, across switches and prunes, whichever process makes them.
///
/// A lock on the generation's folder keeps it there. It ends with `release`, with the last reference to the pin, or with
/// the process, however that ends.
public final class Pin: Sendable {
    /// Its number, its folder, and what was shipped in it.
    public let generation: Generation

    public var manifest: Manifest { generation.manifest }

    private struct Held: ~Copyable {
        let store: OpenStore
        let lease: Lease
    }

    private let held: Mutex<Held?>

    /// - Throws: `CoordinatorError`, `DatabaseError`.
    init(currentOf store: FollowedStore, in inbox: Inbox, preparing: @escaping OpenStore.Preparation) throws {
        let lease = try Lease(currentOf: store.name, in: inbox)
        do throws(InboxError) {
            generation = try Generation(lease.generation, of: store.name, in: inbox)
        } catch {
            throw CoordinatorError.inbox(error)
        }
        // Most often it is the one that everybody reads.
        let latest = try store.latest()
        let pinned = try latest.identity == lease.identity ? latest : Self.open(generation, preparing)
        held = Mutex(Held(store: pinned, lease: lease))
    }

    private static func open(
        _ generation: Generation, _ preparing: @escaping OpenStore.Preparation
    ) throws -> OpenStore {
        let folder = try CoordinatorError.wrapping { () throws(FileError) in try OpenFolder(generation.path) }
        return try OpenStore(generation, in: folder, preparing: preparing)
    }

    /// Runs reads on the generation. They do not wait for each other.
    ///
    /// - Throws: `.released`, and what `body` throws, `DatabaseError` among it.
    public func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let store = try store
        let loan = try store.connections.borrow(for: .blocking)
        defer { store.connections.giveBack(loan) }
        return try loan.queue.read(body)
    }

    /// Runs reads on the generation without keeping a thread waiting. Cancelling the task interrupts them.
    ///
    /// - Throws: `.released`, and what `body` throws, `DatabaseError` among it.
    public func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        let store = try store
        let loan = try store.connections.borrow(for: .waiting)
        defer { store.connections.giveBack(loan) }
        return try await loan.queue.read(body)
    }

    /// Where an external file is. It stays there for as long as the pin is held.
    ///
    /// - Throws: `.noExternalFile`, which says why; `.released`.
    public func externalFile(_ name: ExternalFileName) throws(CoordinatorError) -> FilePath {
        _ = try store
        if let absence = manifest.absence(of: name) { throw .noExternalFile(name, absence) }
        return generation.path.appending(InboxLayout.supportFolder(manifest.name))
            .appending(name.folder.rawValue).appending(name.uuid)
    }

    /// Gives the generation back. Reads that are under way finish; later ones throw `.released`.
    public func release() {
        let held = held.withLock { $0.take() }
        _ = consume held
    }

    private var store: OpenStore {
        get throws(CoordinatorError) {
            guard let store = held.withLock({ $0?.store }) else { throw .released }
            return store
        }
    }
}

extension Manifest {
    /// Why an external file is not in the shipment; `nil` if it is.
    func absence(of name: ExternalFileName) -> CoordinatorError.Absence? {
        if externalFiles.contains(where: { $0.name == name }) { return nil }
        if let left = omissions?.externalFiles.first(where: { $0.name == name }) { return .leftOut(size: left.size) }
        return missingExternalFiles.contains(name) ? .missingAtProducer : .unknown
    }
}
