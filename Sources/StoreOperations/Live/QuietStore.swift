import GRDB
import GRDBSQLite
package import SystemPackage

/// The file of a store that SQLite may be unable to read. No other connection is in the middle of writing to it for as long as
/// this value lives.
///
/// It is opened by SQLite all the same, and by nothing else: closing another descriptor would drop the locks that other
/// connections of this process hold on the file [sqlite.org/howtocorrupt.html section 2.2].
package struct QuietStore: ~Copyable {
    private let connection: OpaquePointer

    /// - Parameter besideReaders: Whether to wait for writers only: readers go on with the file that they have, and no others get
    ///   in. Otherwise this waits until no other connection uses the store.
    /// - Throws: `.busy`, `.inUse`, `.noPermission`, `.noSuchStore`, `.sqlite`.
    package init(_ path: FilePath, besideReaders: Bool, _ busyHandler: BusyHandler) throws(OperationError) {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX
        let code = path.withPlatformString { sqlite3_open_v2($0, &connection, flags, nil) }
        guard code == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw OperationError(DatabaseError(resultCode: ResultCode(rawValue: code)), on: path, busyHandler)
        }
        do {
            try Self.wait(besideReaders: besideReaders, on: connection, busyHandler)
            self.connection = connection
        } catch {
            sqlite3_close_v2(connection)
            let error = OperationError(error, on: path, busyHandler)
            if !besideReaders, case .busy(_, let waited) = error { throw .inUse(path, waited: waited) }
            throw error
        }
    }

    private static func wait(besideReaders: Bool, on connection: OpaquePointer, _ busyHandler: BusyHandler) throws {
        let lock = try DatabaseFileLock(of: connection)
        var tries = 0
        while true {
            if try lock.attempt(besideReaders: besideReaders) { return }
            guard busyHandler.backsOff(tries: tries) else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            tries += 1
        }
    }

    deinit { sqlite3_close_v2(connection) }
}
