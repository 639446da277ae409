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

    /// Runs SQLite's part of the writing.
    ///
    /// - Throws: `.noSpace` where SQLite says so, and `.noRoom` where it says "I/O error" to a quota or a limit on the size of files:
    ///   "disk full" is to SQLite only `ENOSPC` [os_unix.c, unixWrite].
    func watch(_ database: Database, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch DatabaseError.SQLITE_FULL {
            throw error(.disk)
        } catch let failure as DatabaseError where failure.resultCode == .SQLITE_IOERR {
            let errno = Errno(rawValue: sqlite3_system_errno(database.sqliteConnection))
            guard let limit = RoomLimit(errno, makingFile: false, around: folder) else { throw failure }
            throw error(limit)
        }
    }

    private func error(_ limit: RoomLimit) -> SnapshotError {
        SnapshotError(limit, in: folder.appending("copy").userFolder, needed: needed)
    }
}
