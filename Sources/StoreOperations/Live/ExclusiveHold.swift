import GRDB
import GRDBSQLite
import StoreFiles
package import SystemPackage

/// A store that nobody else uses, for as long as this value lives: then it can be copied to its last commit, and removed.
package struct ExclusiveHold: ~Copyable, Sendable {
    /// Through which the store is read meanwhile.
    package let connection: LiveConnection
    private let home: StoreHome

    /// Waits until nobody else has the store open in WAL mode, or reads or writes it in another mode.
    ///
    /// - Throws: `.inUse`, and what opening a store may throw.
    package init(on home: StoreHome, _ patience: Patience) throws(OperationError) {
        self.home = home
        connection = try LiveConnection(to: home.path, .exclusive, patience)
    }

    /// Moves the store out of sight, where `removal` finds it.
    ///
    /// Before that it leaves WAL mode: then the file alone holds every commit, whatever goes first, and a writer
    /// that has opened the file and waits for its lock is told so [pager.c, databaseIsUnmoved], instead of committing to a
    /// file without a name. A kill at any point leaves the store whole, or out of sight.
    ///
    /// - Parameter target: Where it has been moved to; `nil` if it has not.
    /// - Throws: `.busy`, `.file`; the store is whole unless it is gone.
    package func begin(_ removal: StoreRemoval, after target: StoreHome? = nil) throws(OperationError) {
        do throws(OperationError) {
            try connection.run { try $0.execute(sql: "PRAGMA main.journal_mode = DELETE") }
        } catch {
            // Of a damaged store nothing can be saved, and it may be removed all the same.
            guard case .corrupt = error else { throw error }
        }
        try OperationError.wrapping { () throws(FileError) in try removal.begin(after: target) }
    }
}

/// The file of a store that SQLite may not be able to read, with nobody in the middle of writing to it for as long as this
/// value lives.
///
/// It is opened by SQLite all the same, and by nothing else: closing another descriptor would drop the locks that other
/// connections of this process hold on the file [sqlite.org/howtocorrupt.html section 2.2].
package struct QuietStore: ~Copyable {
    private let connection: OpaquePointer

    /// Whom to wait for.
    package enum Claim: Hashable, Sendable {
        /// Whoever writes. Readers go on with the file that they have, and no others get in.
        case noWriters
        /// Everybody.
        case nobody
    }

    /// - Throws: `.busy`, `.inUse`, `.noPermission`, `.noSuchStore`, `.sqlite`.
    package init(_ path: FilePath, _ claim: Claim, _ patience: Patience) throws(OperationError) {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX
        let code = path.withPlatformString { sqlite3_open_v2($0, &connection, flags, nil) }
        guard code == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw OperationError(DatabaseError(resultCode: ResultCode(rawValue: code)), on: path, patience)
        }
        do {
            try Self.wait(for: claim, on: connection, patience)
            self.connection = connection
        } catch {
            sqlite3_close_v2(connection)
            let error = OperationError(error, on: path, patience)
            if claim == .nobody, case .busy(_, let waited) = error { throw .inUse(path, waited: waited) }
            throw error
        }
    }

    private static func wait(for claim: Claim, on connection: OpaquePointer, _ patience: Patience) throws {
        let lock = try StoreLock(of: connection)
        var tries = 0
        while true {
            let outcome = try claim == .nobody ? lock.attempt() : lock.attemptBesideReaders()
            if outcome == .taken || outcome == .hasReaders && claim == .noWriters { return }
            guard patience.backsOff(tries: tries) else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            tries += 1
        }
    }

    deinit { sqlite3_close_v2(connection) }
}
