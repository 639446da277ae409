import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import SystemPackage

extension OperationError {
    /// The meaning of an error that was met on a connection to `store`. Result codes: sqlite.org/rescode.html.
    init(_ error: any Error, on store: FilePath, _ busyHandler: BusyHandler) {
        switch error {
        case _ where busyHandler.isStopped: self = .stopped
        case let error as OperationError: self = error
        case let error as FileError: self = .file(error)
        case let error as DatabaseError: self.init(error, on: store, waited: busyHandler.busyTimeout)
        default: self = .sqlite(code: SQLITE_ERROR, message: ForeignText(String(describing: error)))
        }
    }

    private init(_ error: DatabaseError, on store: FilePath, waited: Duration) {
        let message = ForeignText(error.message ?? "")
        self =
            switch error.resultCode {
            case .SQLITE_INTERRUPT: .stopped
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy(store, waited: waited)
            case .SQLITE_NOTADB: .notADatabase(store)
            case .SQLITE_CORRUPT: .corrupt(store, complaint: message)
            // An encrypted header, or a damaged one, says so; SQLite has no code for it [prepare.c, sqlite3InitOne].
            case .SQLITE_ERROR where error.message == "unsupported file format": .corrupt(store, complaint: message)
            case .SQLITE_ERROR:
                AppPart(missedIn: error.message ?? "").map { .needsApp(store, $0) }
                    ?? .sqlite(code: error.extendedResultCode.rawValue, message: message)
            case .SQLITE_PERM, .SQLITE_AUTH: .noPermission(store)
            // SQLite takes every failure to open a file for writing for a want of permission, and reads on.
            case .SQLITE_READONLY where !PlatformCalls.canWrite(store): .noPermission(store)
            case .SQLITE_CANTOPEN where (try? PlatformCalls.status(of: store)) == nil: .noSuchStore(store)
            case .SQLITE_FULL: .noSpace(folder: store.userFolder, .disk)
            default: .sqlite(code: error.extendedResultCode.rawValue, message: message)
            }
    }
}
