import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// A copy of the bytes of a store that somebody may have open, whatever is in them: read through SQLite's own handle, because
/// closing another one would drop the locks of this process's connections [sqlite.org/howtocorrupt.html section 2.2].
enum RawCopy {
    /// Bytes copied at a time.
    private static let pieceSize = 1024 * 1024

    /// - Parameter store: To be kept from others' writing meanwhile.
    /// - Throws: `DatabaseError`, `FileError`.
    static func make(of store: FilePath, at target: FilePath) throws {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        var code = store.withPlatformString {
            sqlite3_open_v2($0, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nil)
        }
        if code == SQLITE_OK { code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) }
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_OK ? SQLITE_MISUSE : code))
        }
        let output = try OpenFile.creating(target)
        let size = try PlatformCalls.status(of: store).size
        var offset: Int64 = 0
        while offset < size {
            if Task.isCancelled { throw FileError(.write, target, .canceled) }
            var piece = [UInt8](repeating: 0, count: Int(min(Int64(pieceSize), size - offset)))
            code = read(file, &piece, CInt(piece.count), offset)
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            try output.write(piece)
            offset += Int64(piece.count)
        }
        try output.sync()
    }
}
