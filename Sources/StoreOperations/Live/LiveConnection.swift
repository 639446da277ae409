package import GRDB
package import StoreFiles
package import SystemPackage

/// A connection that may write to a store, which other connections, of this process and of others, use meanwhile.
package final class LiveConnection: Sendable {
    package let store: FilePath
    package let queue: DatabaseQueue
    let busyHandler: BusyHandler

    /// - Parameters:
    ///   - store: Absolute, and without symbolic links.
    ///   - isExclusive: Whether no other connection reads or writes the store while this one is open, and in WAL mode none has it
    ///     open: then the lock on the file itself is exclusive, and the log has no shared index [sqlite.org/wal.html#noshm].
    /// - Throws: `.busy`, `.inUse`, `.notADatabase`, `.noPermission`, `.noSuchStore`, `.storeIsSidecar`, `.corrupt`.
    package init(
        to store: FilePath, exclusively isExclusive: Bool = false, _ busyHandler: BusyHandler
    ) throws(OperationError) {
        self.store = store
        self.busyHandler = busyHandler
        try StoreHome(store).refuseStrangeSidecars()
        try StoreHome(store).refuseLogOfNothing()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.busyMode = .callback { tries in busyHandler.waits(tries: tries) }
        configuration.prepareDatabase { database in
            // Before the first look at the file: afterwards the log has its shared index.
            if isExclusive { try Self.keepOthersOut(database, of: store, busyHandler) }
            try database.lookFirst(at: store)
        }
        do {
            do {
                queue = try DatabaseQueue(path: store.writableDatabaseURI, configuration: configuration)
            } catch DatabaseError.SQLITE_CORRUPT {
                // GRDB has a look of its own, and closes the connection that would tell of a page that could not be read.
                queue = try DatabaseQueue(path: store.writableDatabaseURI, configuration: configuration)
            }
            if isExclusive { try queue.unsafeRead { try Self.confirmLock($0) } }
        } catch {
            let error = OperationError(error, on: store, busyHandler)
            if isExclusive, case .busy(_, let waited) = error { throw .inUse(store, waited: waited) }
            throw error
        }
    }

    deinit { try? queue.close() }

    /// Waits until no other connection reads or writes the store, and holds nothing meanwhile. From then on none gets in until
    /// the locking mode is normal again, or the connection closed.
    ///
    /// - Parameter database: In no transaction, and in normal locking mode.
    static func keepOthersOut(_ database: Database, of store: FilePath, _ busyHandler: BusyHandler) throws {
        let lock = try DatabaseFileLock(of: database.sqliteConnection)
        var tries = 0
        while true {
            if try lock.attempt() {
                // Who has waited for the store may have one that is gone, and another has its name.
                guard !lock.hasMoved else {
                    lock.release()
                    let isGone = (try? PlatformCalls.isThere(store)) == false
                    throw DatabaseError(resultCode: isGone ? .SQLITE_CANTOPEN : .SQLITE_BUSY)
                }
                guard DatabaseFileLock.hasHotJournal(store) else { break }
                lock.release()
                // Any reader plays it back.
                try database.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
            }
            guard busyHandler.backsOff(tries: tries) else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
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
                return try database.tellingRefusals(around: store) { try body(database) }
            }
        } catch {
            throw OperationError(error, on: store, busyHandler)
        }
    }
}

extension FolderLock {
    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    /// Takes the lock of a folder, and waits for it until the busy timeout: flock(2) itself cannot be told to stop.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`.
    package static func take(
        _ kind: Kind, on folder: FilePath, _ busyHandler: BusyHandler
    ) throws(OperationError) -> FolderLock {
        let end = ContinuousClock.now + busyHandler.busyTimeout
        while true {
            let lock = try OperationError.wrapping { () throws(FileError) in try take(kind, on: folder) }
            if let lock { return lock }
            try busyHandler.check()
            guard ContinuousClock.now < end else { throw .folderBusy(folder, waited: busyHandler.busyTimeout) }
            PlatformCalls.pause(Self.pause)
        }
    }

    /// Does something while the folder is locked against all others, as soon as it can be.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`; what `body` throws.
    static func holding<Result>(
        _ folder: FilePath, _ busyHandler: BusyHandler, _ body: () throws(OperationError) -> Result
    ) throws(OperationError) -> Result {
        let lock = try take(.exclusive, on: folder, busyHandler)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}
