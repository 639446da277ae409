import GRDB
import GRDBSQLite
import StoreFormat

extension DatabaseHeader {
    /// Reads the header through the connection's own file handle: a descriptor of ours, on closing, would drop the locks
    /// that an app in this process holds on the file [sqlite.org/howtocorrupt.html section 2.2].
    ///
    /// - Throws: `DatabaseError`; a header that is none is `nil`, and SQLite's to complain of.
    init?(of database: Database) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let result = read(file, &bytes, CInt(bytes.count), 0)
        guard result == SQLITE_OK, let header = try? DatabaseHeader(decoding: bytes) else { return nil }
        self = header
    }
}
