import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// The free space that a copy needs in a folder, reserved against other work of this process.
struct FreeSpace: Sendable {
    let folder: FilePath
    /// Bytes.
    let needed: Int64
    /// `nil` where the caller has reserved the space.
    private let reservation: DiskReservation?

    /// - Parameter reserve: Bytes that stay free; `nil` where the caller has reserved the space.
    /// - Throws: `.noSpace`, `.file`.
    init(for needed: Int64, in folder: FilePath, leaving reserve: Int64?) throws(SnapshotError) {
        self.folder = folder
        self.needed = needed
        guard let reserve else {
            reservation = nil
            return
        }
        do throws(DiskReservation.Refusal) {
            reservation = try SpaceLedger.ofProcess.reserve(needed, leaving: reserve, around: folder)
        } catch {
            throw SnapshotError(error, in: folder)
        }
    }

    private var error: SnapshotError {
        .noSpace(folder: folder, needed: needed, free: (try? PlatformCalls.freeSpace(around: folder)) ?? 0)
    }

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
