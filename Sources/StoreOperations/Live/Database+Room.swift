import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

extension Database {
    /// Reads from a store that was just opened. In WAL mode this makes the log's index.
    ///
    /// - Throws: `DatabaseError`, `OperationError.noSpace`.
    func lookFirst(at store: FilePath) throws {
        try tellingRoom(around: store) { try execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
    }

    /// Runs `body`, which may write to the store.
    ///
    /// SQLite says "disk full" to `ENOSPC` alone, and "I/O error" to a quota or a limit on the size of files [os_unix.c, unixWrite],
    /// and to any want of room for the index of a log [os_unix.c, unixShmMap].
    ///
    /// - Throws: `OperationError.noSpace`; what `body` throws.
    func tellingRoom<Value>(around store: FilePath, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            // What SQLite does to roll back may make the connection forget the number, which its open files keep.
            let errnos = [
                sqlite3_system_errno(sqliteConnection), lastErrno(ofFile: SQLITE_FCNTL_FILE_POINTER),
                lastErrno(ofFile: SQLITE_FCNTL_JOURNAL_POINTER),
            ]
            let folder = store.userFolder
            let limits = errnos.compactMap { RoomLimit(Errno(rawValue: $0), makingFile: false, around: folder) }
            guard let limit = limits.first else { throw error }
            throw OperationError.noSpace(folder: folder, limit)
        }
    }

    /// What the last failed call on the store, or on its journal or log, said; 0 if it is not open.
    private func lastErrno(ofFile pointer: CInt) -> CInt {
        var file: UnsafeMutablePointer<sqlite3_file>?
        var errno: CInt = 0
        guard sqlite3_file_control(sqliteConnection, "main", pointer, &file) == SQLITE_OK, let file,
            let control = file.pointee.pMethods?.pointee.xFileControl,
            control(file, SQLITE_FCNTL_LAST_ERRNO, &errno) == SQLITE_OK
        else { return 0 }
        return errno
    }
}
