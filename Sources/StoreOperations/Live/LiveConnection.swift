package import GRDB
import StoreFiles
package import SystemPackage

/// A connection that may write to a store, which other connections, of this process and of others, use meanwhile.
package final class LiveConnection: Sendable {
    package let store: FilePath
    package let queue: DatabaseQueue
    let patience: Patience

    /// How others get on with the store while the connection is open.
    package enum Claim: Hashable, Sendable {
        /// As always.
        case shared
        /// Nobody else reads or writes it, and in WAL mode nobody else has it open: then the lock on the file itself is
        /// exclusive, and the log has no shared index [sqlite.org/wal.html#noshm].
        case exclusive
    }

    /// - Parameter store: Absolute, and without symbolic links.
    /// - Throws: `.busy`, `.inUse`, `.notADatabase`, `.noPermission`, `.noSuchStore`, `.storeIsSidecar`.
    package init(to store: FilePath, _ claim: Claim, _ patience: Patience) throws(OperationError) {
        self.store = store
        self.patience = patience
        try StoreHome(store).refuseStoresAsSidecars()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.busyMode = .callback { tries in patience.waits(tries: tries) }
        configuration.prepareDatabase { database in
            // Before the first look at the file: afterwards the log has its shared index.
            if claim == .exclusive { try Self.keepOthersOut(database, of: store, patience) }
        }
        do {
            queue = try DatabaseQueue(path: DatabaseURI.writing(store), configuration: configuration)
            if claim == .exclusive { try queue.unsafeRead { try Self.confirmLock($0) } }
        } catch {
            let error = OperationError(error, on: store, patience)
            if claim == .exclusive, case .busy(_, let waited) = error { throw .inUse(store, waited: waited) }
            throw error
        }
    }

    deinit { try? queue.close() }

    /// Waits until nobody reads or writes the store, and holds nothing meanwhile. From then on nobody gets in until the
    /// locking mode is normal again, or the connection closed.
    ///
    /// - Parameter database: In no transaction, and in normal locking mode.
    static func keepOthersOut(_ database: Database, of store: FilePath, _ patience: Patience) throws {
        let lock = try StoreLock(of: database.sqliteConnection)
        var tries = 0
        while true {
            if try lock.attempt() == .taken {
                guard StoreLock.hasHotJournal(store) else { break }
                lock.release()
                // Any reader plays it back.
                try database.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
            }
            guard patience.backsOff(tries: tries) else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            tries += 1
        }
        guard try lock.beginsAsStore() else {
            lock.release()
            throw DatabaseError(resultCode: .SQLITE_NOTADB)
        }
        try database.execute(sql: "PRAGMA main.locking_mode = EXCLUSIVE")
    }

    /// Makes the lock that is held that of the connection, which asks for none that it could not get any more. In exclusive
    /// locking mode a lock stays after the transaction that took it [sqlite.org/pragma.html#pragma_locking_mode].
    static func confirmLock(_ database: Database) throws {
        try database.inTransaction(.exclusive) { .commit }
    }

    /// Runs `body` outside any transaction, and nothing else on the connection meanwhile. A transaction that `body` has not
    /// ended, as when its commit failed, is rolled back.
    package func run<Value>(_ body: (Database) throws -> Value) throws(OperationError) -> Value {
        do {
            return try queue.unsafeRead { database in
                defer { if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") } }
                return try body(database)
            }
        } catch {
            throw OperationError(error, on: store, patience)
        }
    }
}
