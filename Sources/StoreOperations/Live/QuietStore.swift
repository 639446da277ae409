import GRDB
import GRDBSQLite
import StoreFiles
package import SystemPackage

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
