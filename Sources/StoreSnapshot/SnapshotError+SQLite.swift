import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import SystemPackage

extension SnapshotError {
    /// What an error that was met on a connection to `store` means.
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
            if let collation = watch.neededCollation {
                self = .missingCollation(ForeignText(collation))
            } else {
                self =
                    Self.missingPart(in: words) ?? .sqlite(code: error.extendedResultCode.rawValue, message: message)
            }
        default: self = .sqlite(code: error.extendedResultCode.rawValue, message: message)
        }
    }

    /// SQLite has no result codes of their own for these: its words are all there is to tell them by (resolve.c,
    /// vtab.c). Should they change, the error becomes `.sqlite` with the same message.
    private static func missingPart(in message: String) -> SnapshotError? {
        func name(after beginning: String) -> String? {
            message.hasPrefix(beginning) ? String(message.dropFirst(beginning.count)) : nil
        }
        if let function = name(after: "no such function: ") { return .missingFunction(ForeignText(function)) }
        if let function = name(after: "unknown function: ") {
            return .missingFunction(ForeignText(function.hasSuffix("()") ? String(function.dropLast(2)) : function))
        }
        return name(after: "no such module: ").map { .missingModule(ForeignText($0)) }
    }
}
