import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import SystemPackage

extension SnapshotError {
    init(_ error: any Error, on store: FilePath, watch: ConnectionWatch) {
        switch error {
        case _ where watch.interruption.isCancelled: self = .cancelled
        case let error as SnapshotError: self = error
        case let error as FileError: self = .file(error)
        case let error as DatabaseError: self.init(sqlite: error, on: store, watch: watch)
        default: self = .sqlite(code: SQLITE_ERROR, message: ForeignText(String(describing: error)))
        }
    }

    /// Result codes: sqlite.org/rescode.html.
    private init(sqlite error: DatabaseError, on store: FilePath, watch: ConnectionWatch) {
        let words = error.message ?? ""
        let message = ForeignText(words)
        switch error.extendedResultCode {
        case .SQLITE_READONLY_ROLLBACK:
            self = .hotJournal(store)
            return
        case .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTLOCK, .SQLITE_READONLY_CANTINIT,
            .SQLITE_READONLY_DIRECTORY:
            self = .writeAheadLogOnReadOnlyMedium(store)
            return
        default: break
        }
        switch error.resultCode {
        case .SQLITE_INTERRUPT: self = .cancelled
        case .SQLITE_BUSY: self = .busy(store, waited: watch.busyTimeout)
        case .SQLITE_NOTADB: self = .notADatabase(store)
        case .SQLITE_CORRUPT: self = .corrupt(store, complaints: [message])
        case .SQLITE_PERM, .SQLITE_AUTH: self = .noPermission(store)
        case .SQLITE_ERROR:
            // SQLite has no result code for this one, either [prepare.c, sqlite3InitOne].
            self =
                words == "unsupported file format"
                ? .unsupportedFormat(store)
                : AppPart(missedIn: words).map { .needsApp($0) }
                    ?? .sqlite(code: error.extendedResultCode.rawValue, message: message)
        default: self = .sqlite(code: error.extendedResultCode.rawValue, message: message)
        }
    }
}
