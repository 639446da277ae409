import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// How much is to be written to a folder, and how much may be.
struct Room: Sendable {
    let folder: FilePath
    /// Bytes.
    let needed: Int64
    /// Bytes, before anything was written.
    let free: Int64

    var isEnough: Bool { needed <= free }
    var error: SnapshotError { .noSpace(folder: folder, needed: needed, free: free) }

    /// Runs SQLite's part of the writing.
    ///
    /// - Throws: `.noSpace` where SQLite says so, and where it says "I/O error" to a quota or a limit on the size of
    ///   files: "disk full" is to SQLite only `ENOSPC` [os_unix.c, unixWrite].
    func watch(_ database: Database, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch DatabaseError.SQLITE_FULL {
            throw error
        } catch DatabaseError.SQLITE_IOERR where Self.isOutOfSpace(database) {
            throw error
        }
    }

    private static func isOutOfSpace(_ database: Database) -> Bool {
        FileError(.write, "", Errno(rawValue: sqlite3_system_errno(database.sqliteConnection))).isOutOfSpace
    }
}
