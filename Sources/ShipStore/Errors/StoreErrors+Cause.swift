public import ShipProtocol
public import StoreBases
import StoreFiles
public import StoreOperations
public import StoreSnapshot
import SystemPackage

extension SnapshotError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .noSuchFile(let path): "there is no store at \(path)"
        case .folder(let path): "\(path) is a folder, not a store"
        case .notARegularFile(let path): "\(path) is not a regular file"
        case .sameExternalFile(let one, let other):
            "the rows name an external file in two ways, which no receiver may take for two: \(one.relativePath) and \(other.relativePath)"
        case .strangeExternalFile(let path): "the external file \(path) is not a regular file"
        case .notADatabase(let path): "\(path) is not a SQLite database, or it is encrypted"
        case .unsupportedFormat(let path):
            "SQLite does not know the format of \(path): it is encrypted, or of a later version, or its header is damaged"
        case .severalNames(let path):
            "\(path) has another name, or is mounted alone: its users may keep its -wal or -journal elsewhere"
        case .logOfNothing(let path): "\(path) has no bytes, and a -wal beside it, which may have its rows"
        case .truncated(let path, let size, let expected):
            "\(path) is truncated: it has \(size) bytes and should have \(expected)"
        case .noPermission(let path): "no permission to read \(path)"
        case .busy(let path, let waited): "\(path) is locked by another program, and stayed so for \(waited)"
        case .needsApp(let part): part.cause(of: "the store")
        case .writeAheadLogOnReadOnlyMedium(let path):
            "part of \(path) is in its -wal file, and nothing can be written beside it to read that"
        case .hotJournal(let path): "\(path) has an unfinished transaction that must be rolled back first"
        case .corrupt(let path, let complaints): "\(path) is corrupt: \(complaints.first ?? "SQLite cannot read it")"
        case .noSpace(let folder, let needed, let free):
            "the copy needs \(needed) bytes in \(folder), what is to stay free included, and \(free) are free"
        case .noRoom(let folder, let limit): limit.cause(in: folder)
        case .missingExternalFile(let reference, _):
            "the external file \(reference.name.relativePath) is missing: table \(reference.table), "
                + "column \(reference.column), row \(reference.row) refers to it"
        case .tooManyExternalFiles(let limit): "the store has more than \(limit) external files"
        case .noSuchTable(let name, _): "the store has no table \(name)"
        case .tableMustStay(let name, let obstacle): obstacle.cause(of: name)
        case .tableIsTaken(let name):
            "the copy cannot say what it comes without: the store has a table \(name) of its own"
        case .badMetadata(let flaw): "the store's metadata and that of the shipment cannot go with it: \(flaw)"
        case .partOfStore(let path): "\(path) belongs to the store that is sent, and would be destroyed"
        case .cancelled: "stopped before it was done"
        case .sqlite(let code, let message): "SQLite cannot copy the store: \(message) (code \(code))"
        case .file(let error): error.cause
        }
    }
}

extension AppPart {
    fileprivate func cause(of store: PrintableText) -> PrintableText {
        switch self {
        case .collation(let name): "\(store) needs the collation \(name), which only its app defines"
        case .function(let name): "\(store) needs the SQL function \(name), which only its app defines"
        case .module(let name): "\(store) has a virtual table of the module \(name), which this SQLite does not have"
        }
    }
}

extension TableObstacle {
    fileprivate func cause(of table: ForeignText) -> PrintableText {
        switch self {
        case .isView: "\(table) is a view, which has no rows"
        case .isVirtual, .isPartOfVirtual: "\(table) belongs to a virtual table, whose rows cannot be left out"
        case .feedsVirtual: "what is in \(table) is also in a virtual table, and would stay there"
        case .sqliteNeedsIt: "\(table) is SQLite's own, and its rows cannot be left out"
        case .coreDataNeedsIt: "\(table) is Core Data's own: without its rows the store does not open"
        case .isHistory: "\(table) is part of the history, which is left out as a whole"
        }
    }
}

extension OperationError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .noSuchStore(let path): "there is no store at \(path)"
        case .noSuchCopy(let path): "there is no copy at \(path)"
        case .noCopyTagged(let tag, let folder): "no copy in \(folder) has the tag \(tag)"
        case .notADatabase(let path): "\(path) is not a SQLite database, or it is encrypted"
        case .folder(let path): "\(path) is a folder, not a store"
        case .strangeFile(let path): "\(path) is not a SQLite database, and nothing says that it was one"
        case .corrupt(let path, let complaint): "\(path) is damaged: \(complaint)"
        case .needsApp(let path, let part): part.cause(of: "\(path)")
        case .unusable(let words): "\(words)"
        case .notDamaged(let path): "\(path) is not damaged"
        case .busy(let path, let waited): "\(path) is locked by another program, and stayed so for \(waited)"
        case .folderBusy(let folder, let waited):
            "another program has been changing which copies are in \(folder) for \(waited)"
        case .supportFolderBusy(let folder, let waited):
            "another command has been changing the external files in \(folder) for \(waited)"
        case .inUse(let path, let waited): "another program has \(path) open, and kept it so for \(waited)"
        case .noPermission(let path): "no permission to write to \(path)"
        case .occupied(let path): "\(path) is in the way: nothing shows that it is an older copy"
        case .storeInTheWay(let path): "there is a store at \(path) already"
        case .kept(let path, let place, _): place.cause(of: path)
        case .sharedSupportFolder(let folder, let store): "\(folder) is the folder of external files of \(store)"
        case .linkedSupportFolder(let path):
            "\(path) is a symbolic link: what it leads to may be another store's, and no external files are put there"
        case .sidecar(let path): "\(path) is in the way: SQLite would take it for a part of the new store"
        case .storeIsSidecar(let path, let store):
            "\(path) has the name of a part of \(store), and SQLite takes it for one"
        case .sameStore(let path): "\(path) is named twice"
        case .otherIdentity(let path, let identity, let copyIdentity):
            "the copy is one of another store than \(path): \(Self.text(copyIdentity)), not \(Self.text(identity))"
        case .otherSchema(let path):
            "the copy may be one of another store than \(path): neither has an identity, and their tables differ"
        case .otherTextEncoding(let path, let encoding, let copyEncoding):
            "the copy's texts are in \(copyEncoding.rawValue), those of \(path) in \(encoding.rawValue)"
        case .badCopy(let error): "the copy is not whole: \(error.cause)"
        case .incompleteCopy(let path, let omissions):
            "\(path) came without \(omissions.words()), which the store would lose too"
        case .damagedCopy(let path, let complaint):
            "\(path) is a copy of a damaged store, kept as evidence: \(complaint)"
        case .notVerified(let path): "what was written to \(path) reads back as something else"
        case .badTag(let tag): "\(tag) is no tag: 1 to 60 letters, digits, dots, dashes and underscores"
        case .badMetadata(let flaw): "\(flaw)"
        case .unreadablePropertyList(let path): "the Core Data metadata of \(path) cannot be read"
        case .tableIsTaken(let table): "the store has a table \(table) that is not for its metadata"
        case .damagedOrEncrypted(let path, let complaint):
            "\(path) is no database that SQLite can use, or it is encrypted: \(complaint)"
        case .badFileName(let name): "\(name) is no name for a copy"
        case .badStoreName(let name): "\(name) is no name for a store"
        case .notCanonical(let path):
            "\(path) is not in the form in which shipments go: `copy` has not made it, or it was changed since"
        case .noSpace(let folder, let limit): limit.cause(in: folder)
        case .file(let error): error.cause
        case .sqlite(let code, let message): "SQLite says: \(message) (code \(code))"
        case .stopped: "stopped before it was done"
        }
    }

    private static func text(_ identity: ForeignText?) -> ForeignText {
        identity ?? "no identity"
    }
}

extension KeptPlace {
    fileprivate func cause(of path: FilePath) -> PrintableText {
        switch self {
        case .inbox(let root, _): "\(path) is a generation of the inbox \(root), and never changes"
        case .depot(let root): "\(path) belongs to the inbox \(root), which keeps its own files there"
        case .keptCopy: "\(path) is a kept copy, and never changes"
        case .otherName:
            "\(path) is read-only and has another name too, as a generation or a kept copy has that is linked to"
        }
    }
}

extension BaseMemoryError: ExplainedError {
    public var cause: PrintableText {
        switch self {
        case .exposed(let path, _): "other users may have read or changed what is remembered in \(path)"
        case .otherOwner(let path, let user): "what is remembered in \(path) belongs to user \(user)"
        case .notPlain(let path): "\(path) is a link, or not what should be there"
        case .newerFormat(let path, let version):
            "a later version of this program wrote \(path), in a format, \(version), that this one does not know"
        case .damaged(let path, let flaw): "the record of what is remembered, \(path), cannot be used: \(flaw)"
        case .stillThere(let path):
            "\(path), which is remembered no more, is there still: another program reads it, or it cannot be removed"
        case .noRoom(let path): "there is no room for it among what is remembered in \(path)"
        case .busy(let path): "another program is changing what is remembered in \(path)"
        case .stopped: "stopped before it was done"
        case .file(let error): error.cause
        }
    }
}
