import GRDB
import GRDBSQLite
public import ShipProtocol
public import StoreFiles
public import StoreInbox
public import SystemPackage

/// Why something could not be done to a store of this device. The store is as it was, unless its metadata was set, and the sync after that
/// failed.
public enum OperationError: Error, Hashable, Sendable {
    /// Nothing is there.
    case noSuchStore(FilePath)
    /// Neither a kept copy, nor a generation, nor a store.
    case noSuchCopy(FilePath)
    /// No kept copy has the tag.
    case noCopyTagged(String, in: FilePath)
    case notADatabase(FilePath)
    /// A folder was named as a store.
    case folder(FilePath)
    /// No store, and nothing speaks for it that it was one.
    case strangeFile(FilePath)
    /// SQLite's own first complaint.
    case corrupt(FilePath, complaint: ForeignText)
    /// Nothing can be told of it, as its schema needs what only its app has.
    case needsApp(FilePath, AppPart)
    /// Why it is no store that SQLite can open, in words.
    case unusable(ForeignText)
    /// SQLite can open it, and it was to be removed because it could not.
    case notDamaged(FilePath)
    /// Another connection kept writing to it, or kept all others out.
    case busy(FilePath, waited: Duration)
    /// Another command kept changing which copies are in the folder.
    case folderBusy(FilePath, waited: Duration)
    /// Another command kept working on the folder of external files, perhaps for another store of the same stem.
    case supportFolderBusy(FilePath, waited: Duration)
    /// Another connection has it open, and it is to be removed.
    case inUse(FilePath, waited: Duration)
    case noPermission(FilePath)
    /// Something stands where the store is to go.
    case occupied(FilePath)
    /// A store of that name is at the new place of one that is moved.
    case storeInTheWay(FilePath)
    /// It is a generation of an inbox, or a kept copy: what was to be done to it is done by other commands.
    case kept(FilePath, KeptPlace, KeptPlace.Purpose)
    /// The folder of external files is in use by another store of the same stem, the second one.
    case sharedSupportFolder(FilePath, with: FilePath)
    /// A symbolic link is in the place of the folder of external files, or of one in it.
    case linkedSupportFolder(FilePath)
    /// A log or a journal stands beside the place of a copy: SQLite would take it for part of whatever is put there.
    case sidecar(FilePath)
    /// A store, the first one, is called as SQLite would call a file of its own beside the second one.
    case storeIsSidecar(FilePath, of: FilePath)
    /// The two are the same file.
    case sameStore(FilePath)
    /// Another store's copy; each identity is `Z_UUID`, or `nil` for a store that has none.
    case otherIdentity(FilePath, has: ForeignText?, copyHas: ForeignText?)
    /// Neither the store nor the copy has an identity, and their schemas differ.
    case otherSchema(FilePath)
    /// Connections that are open cannot change the encoding of texts.
    case otherTextEncoding(FilePath, StoreFacts.TextEncoding, copyHas: StoreFacts.TextEncoding)
    /// A fault of a kept copy or a generation.
    case badCopy(InboxError)
    /// Something was left out of it on purpose: restoring it would lose that from the store too.
    case incompleteCopy(FilePath, Omissions)
    /// A copy of a damaged store, which was kept as evidence; SQLite's first complaint.
    case damagedCopy(FilePath, ForeignText)
    /// The store at the new place is not what it should be; it has been removed again.
    case notVerified(FilePath)
    /// A tag is 1 to 60 letters, digits, dots, dashes and underscores.
    case badTag(String)
    /// The first rule of `Protocol/README.md` section 4.7 that pairs of metadata break, in words.
    case badMetadata(String)
    /// `Z_METADATA` has no row, or its property list cannot be read.
    case unreadablePropertyList(FilePath)
    /// There is a table of the name under which pairs of metadata are kept, and it is not ours.
    case tableIsTaken(String)
    /// SQLite cannot set pairs of metadata in it: it is encrypted or damaged; in SQLite's own words.
    case damagedOrEncrypted(FilePath, complaint: ForeignText)
    /// No name of a file that is not hidden and not a sidecar's.
    case badFileName(String)
    /// No name for a store.
    case badStoreName(String)
    /// Not a copy in canonical form.
    case notCanonical(FilePath)
    /// SQLite had no room to write to the folder.
    case noSpace(folder: FilePath, RoomLimit)
    case file(FileError)
    /// Any other error of SQLite: the extended result code (sqlite.org/rescode.html) and its message.
    case sqlite(code: Int32, message: ForeignText)
    /// This side was told to stop.
    case stopped

    /// Whether nothing is wrong but that the work was to stop.
    package var isCancellation: Bool {
        switch self {
        case .stopped: true
        case .file(let error): error.isCancellation
        case .badCopy(let error): error.isCancellation
        default: false
        }
    }

    /// Whether it is for want of room.
    public var isOutOfSpace: Bool {
        switch self {
        case .noSpace: true
        case .file(let error): error.isOutOfSpace
        case .badCopy(let error): error.isOutOfSpace
        default: false
        }
    }
}

extension OperationError: FileErrorWrapping {
    package init(ofFile error: FileError) { self = error.isCancellation ? .stopped : .file(error) }
}

extension OperationError {
    /// Whether an error of SQLite is about the content of a store. It is not where somebody else uses the store, where this user may not
    /// do what was to be done, and where the system fails: what a disk does not give back now, it may give back later.
    ///
    /// - Parameter code: The extended result code [sqlite.org/rescode.html].
    package static func isDamage(sqlite code: Int32) -> Bool {
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_INTERRUPT, .SQLITE_ABORT: false
        case .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY, .SQLITE_MISUSE: false
        default: !SystemFault.isTold(by: code)
        }
    }

    /// Whether SQLite has found something wrong with a store. What it was to do cannot be done to it any more.
    package var isDamage: Bool {
        switch self {
        case .notADatabase, .corrupt: true
        case .sqlite(let code, _): Self.isDamage(sqlite: code)
        default: false
        }
    }
}
