import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage

extension SnapshotError {
    var explanation: Explanation {
        switch self {
        case .noSuchFile(let path):
            Explanation("there is no store at \(path)", hint: "check the path")
        case .folder(let path):
            Explanation("\(path) is a folder, not a store", hint: "name the SQLite file inside it")
        case .notARegularFile(let path):
            Explanation("\(path) is not a regular file", hint: "name a SQLite file")
        case .notADatabase(let path):
            Explanation(
                "\(path) is not a SQLite database, or it is encrypted",
                hint: "check the path; an encrypted store must be exported in plain by its app")
        case .truncated(let path, let size, let expected):
            Explanation(
                "\(path) is truncated: it has \(size) bytes and should have \(expected)",
                hint: "restore it from a copy, or let `sqlite3 STORE .recover` save what is left")
        case .noPermission(let path):
            Explanation("no permission to read \(path)", hint: "run as a user who may read it")
        case .busy(let path, let waited):
            Explanation(
                "\(path) is locked by another program, and stayed so for \(waited)",
                hint: "try again later, or wait longer with --busy-timeout")
        case .missingCollation(let name):
            Explanation(
                "the store needs the collation \(name), which only its app defines",
                hint: "let the app itself take the copy, with its collations registered")
        case .missingFunction(let name):
            Explanation(
                "the store needs the SQL function \(name), which only its app defines",
                hint: "let the app itself take the copy, with its functions registered")
        case .missingModule(let name):
            Explanation(
                "the store has a virtual table of the module \(name), which this SQLite does not have",
                hint: "use a SQLite with that module, or let the app itself take the copy")
        case .writeAheadLogOnReadOnlyMedium(let path):
            Explanation(
                "part of \(path) is in its -wal file, and nothing can be written beside it to read that",
                hint: "copy the store and its -wal to a folder that can be written, and ship from there")
        case .hotJournal(let path):
            Explanation(
                "\(path) has an unfinished transaction that must be rolled back first",
                hint: "open the store once with its app or with sqlite3, then try again")
        case .corrupt(let path, let complaints):
            Explanation(
                "\(path) is corrupt: \(complaints.first ?? "SQLite cannot read it")",
                hint: "restore it from a copy, or let `sqlite3 STORE .recover` save what is left")
        case .noSpace(let folder, let needed, let free):
            Explanation(
                "the copy needs \(needed) bytes in \(folder), which has \(free) free",
                hint: "free some space, or name another folder with --temporary-folder")
        case .missingExternalFile(let reference, _):
            Explanation(
                "the external file \(reference.name.relativePath) is missing: table \(reference.table), "
                    + "column \(reference.column), row \(reference.row) refers to it",
                hint: "put it back, or go on without it with --allow-missing-external")
        case .tooManyExternalFiles(let limit):
            Explanation("the store has more than \(limit) external files")
        case .noSuchTable(let name, let near):
            Explanation(
                "the store has no table \(name)",
                hint: near.isEmpty
                    ? "`ship-store inspect STORE` lists its tables"
                    : "did you mean \(near.map { PrintableText("\($0)") }.joined(separator: " or "))?")
        case .tableMustStay(let name, let obstacle): obstacle.explanation(of: name)
        case .tableIsTaken(let name):
            Explanation(
                "the copy cannot say what it comes without: the store has a table \(name) of its own",
                hint: "take a complete copy")
        case .tooMuchMetadata(let limit):
            Explanation(
                "the store's metadata and that of the shipment are more than \(limit) pairs together",
                hint: "give fewer with --meta, or remove some with `ship-store metadata STORE --unset`")
        case .partOfStore(let path):
            Explanation(
                "\(path) belongs to the store that is sent, and would be destroyed", hint: "name another file")
        case .cancelled:
            Explanation("stopped before it was done")
        case .sqlite(let code, let message):
            Explanation("SQLite cannot copy the store: \(message) (code \(code))")
        case .file(let error): error.explanation
        }
    }
}

extension TableObstacle {
    fileprivate func explanation(of table: ForeignText) -> Explanation {
        switch self {
        case .isView: Explanation("\(table) is a view, which has no rows", hint: "exclude the tables that it reads")
        case .isVirtual, .isPartOfVirtual:
            Explanation("\(table) belongs to a virtual table, whose rows cannot be left out")
        case .sqliteNeedsIt: Explanation("\(table) is SQLite's own, and its rows cannot be left out")
        case .coreDataNeedsIt: Explanation("\(table) is Core Data's own: without its rows the store does not open")
        case .isHistory:
            Explanation("\(table) is part of the history, which is left out as a whole", hint: "use --strip-history")
        }
    }
}
