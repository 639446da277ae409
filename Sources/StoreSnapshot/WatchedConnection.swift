import GRDB
import SystemPackage

/// One connection, closed when its owner is done with it, unless it is somebody else's.
struct WatchedConnection: ~Copyable {
    private let queue: DatabaseQueue
    private let isOurs: Bool
    private let store: FilePath
    private let watch: ConnectionWatch

    enum Purpose { case read, write }

    /// - Parameter address: A path or a `file:` URI.
    /// - Parameter store: The file that errors are about.
    init(
        address: String, to purpose: Purpose, of store: FilePath, watch: ConnectionWatch
    ) throws(SnapshotError) {
        self.store = store
        self.watch = watch
        isOurs = true
        do {
            queue = try DatabaseQueue(path: address, configuration: watch.configuration(for: purpose))
        } catch {
            throw SnapshotError(error, on: store, watch: watch)
        }
        watch.interruption.add(queue)
    }

    /// Borrows a connection that is open, and is to stay so.
    init(borrowing queue: DatabaseQueue, of store: FilePath, watch: ConnectionWatch) {
        self.queue = queue
        self.store = store
        self.watch = watch
        isOurs = false
        watch.interruption.add(queue)
    }

    deinit {
        watch.interruption.remove(queue)
        if isOurs { try? queue.close() }
    }

    /// Runs `body` outside any transaction.
    ///
    /// - Throws: The errors of SQLite as `SnapshotError` cases.
    func read<Value>(_ body: (Database) throws -> Value) throws(SnapshotError) -> Value {
        do {
            return try queue.unsafeRead(body)
        } catch {
            throw SnapshotError(error, on: store, watch: watch)
        }
    }
}
