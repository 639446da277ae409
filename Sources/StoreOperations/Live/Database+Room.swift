import CSQLiteHardening
package import GRDB
import GRDBSQLite
import StoreFiles
package import SystemPackage

extension Database {
    /// Reads from a store that was just opened. In WAL mode this makes the log's index.
    ///
    /// - Throws: `DatabaseError`, `OperationError.noSpace`.
    func lookFirst(at store: FilePath) throws {
        try tellingRefusals(around: store) { try execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
    }

    /// Runs `body`, which may write to the store.
    ///
    /// SQLite says "disk full" to `ENOSPC` alone, and "I/O error" to a quota or a limit on the size of files [os_unix.c, unixWrite],
    /// and to any want of room for the index of a log [os_unix.c, unixShmMap].
    ///
    /// And it says that a store is damaged where the system did not let it read a page: that proves nothing (`ship_store_last_refusal`).
    ///
    /// - Throws: `OperationError.noSpace`, `.file`; what `body` throws.
    package func tellingRefusals<Value>(around store: FilePath, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            let refusal = ship_store_last_refusal(sqliteConnection)
            throw refusal == 0 ? error : FileError(.read, store, Errno(rawValue: refusal)) as any Error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            // What SQLite does to roll back may make the connection forget the number, which its open files keep.
            let errnos = [sqlite3_system_errno(sqliteConnection), ship_store_last_refusal(sqliteConnection)]
            let folder = store.userFolder
            let limits = errnos.compactMap { RoomLimit(Errno(rawValue: $0), makingFile: false, around: folder) }
            guard let limit = limits.first else { throw error }
            throw OperationError.noSpace(folder: folder, limit)
        }
    }
}
