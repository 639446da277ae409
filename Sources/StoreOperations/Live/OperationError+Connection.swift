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
            case .SQLITE_CANTOPEN where (try? PlatformCalls.status(of: store)) == nil: .noSuchStore(store)
            case .SQLITE_FULL: .noSpace(folder: store.userFolder, .disk)
            default:
                Self.closedPlace(error, on: store).map(Self.noPermission)
                    ?? .sqlite(code: error.extendedResultCode.rawValue, message: message)
            }
    }

    /// What SQLite could not write to for a want of permission: the store, or its folder, where it keeps a log or a journal. It takes every
    /// failure to open a file for writing for that, reads on, and cannot lock it.
    private static func closedPlace(_ error: DatabaseError, on store: FilePath) -> FilePath? {
        switch error.extendedResultCode {
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR_LOCK:
            [store, store.removingLastComponent()].first { !PlatformCalls.canWrite($0) }
        default: nil
        }
    }
}
