public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why no compact copy of a store could be taken. The store itself has not changed in any case.
public enum SnapshotError: Error, Hashable, Sendable {
    /// The file, or a folder on the way to it, does not exist.
    case noSuchFile(FilePath)
    /// A folder stands where a file should.
    case folder(FilePath)
    /// A pipe, a socket, a device, or, where no link is followed, a symbolic link.
    case notARegularFile(FilePath)
    /// The thing in the place of an external file is no regular file.
    case strangeExternalFile(FilePath)
    /// Two rows name an external file in two ways that some file systems do not tell apart.
    case sameExternalFile(ExternalFileName, ExternalFileName)
    /// Another kind of file, or an encrypted one: they cannot be told apart.
    case notADatabase(FilePath)
    /// The header has a schema format that this SQLite does not know: it may be one of a later version, or encrypted or damaged.
    case unsupportedFormat(FilePath)
    /// It has several names, or is mounted alone, and its log or journal may be beside another name of it.
    case severalNames(FilePath)
    /// It has no bytes, and a log with frames beside it, which may be all that is left of it.
    case logOfNothing(FilePath)
    /// The file ends before its last page does. Both figures are in bytes.
    case truncated(FilePath, size: Int64, expected: Int64)
    case noPermission(FilePath)
    /// Another connection kept its exclusive lock for as long as the busy timeout, or the store changed during each
    /// attempt where it can only be read without locks.
    case busy(FilePath, waited: Duration)
    /// The schema needs what only its app has, or what this SQLite was built without.
    case needsApp(AppPart)
    /// Part of the data is in the write-ahead log, whose index file is missing and cannot be made there.
    case writeAheadLogOnReadOnlyMedium(FilePath)
    /// A transaction was interrupted, and only a connection that may write can roll it back.
    case hotJournal(FilePath)
    /// SQLite's own first complaints.
    case corrupt(FilePath, complaints: [ForeignText])
    /// Both figures are in bytes; they are about the file system that holds the folder.
    case noSpace(folder: FilePath, needed: Int64, free: Int64)
    /// There is no room in the folder, for another reason than a disk that is full.
    case noRoom(folder: FilePath, RoomLimit)
    case missingExternalFile(ExternalFileReference, path: FilePath)
    case tooManyExternalFiles(limit: Int)
    /// A table whose rows were to be left out; with names of tables that may have been meant.
    case noSuchTable(ForeignText, near: [ForeignText])
    /// A table whose rows were to be left out.
    case tableMustStay(ForeignText, because: TableObstacle)
    /// The name of the table of marks is taken by another table.
    case tableIsTaken(ForeignText)
    /// The store and the shipment together have pairs that no manifest can have. The text says for people which rule they break.
    case badMetadata(ForeignText)
    /// The file to be written is a part of the store.
    case partOfStore(FilePath)
    case cancelled
    /// Any other error of SQLite: the extended result code (sqlite.org/rescode.html) and its message.
    case sqlite(code: Int32, message: ForeignText)
    case file(FileError)
}

extension SnapshotError: FileErrorWrapping {
    /// Whether it is an error of the system, which says nothing of the store: the next attempt may read it.
    package var isOfSystem: Bool {
        switch self {
        case .file, .noSpace, .noRoom, .cancelled: true
        case .sqlite(let code, _): SystemFault.isTold(by: code)
        default: false
        }
    }

    /// An error from a file that was written in the temporary folder, where so many bytes should have been free.
    init(writing error: FileError, needed: Int64) {
        self = error.roomLimit.map { SnapshotError($0, in: error.path.userFolder, needed: needed) } ?? .file(error)
    }

    /// Does what writes such a file.
    static func writing<Value: ~Copyable>(
        needed: Int64 = 0, _ body: () throws(FileError) -> Value
    ) throws(SnapshotError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw SnapshotError(writing: error, needed: needed)
        }
    }

    init(_ limit: RoomLimit, in folder: FilePath, needed: Int64) {
        self =
            switch limit {
            case .disk:
                .noSpace(folder: folder, needed: needed, free: (try? PlatformCalls.freeSpace(around: folder)) ?? 0)
            case .fileCount, .quota, .fileSize: .noRoom(folder: folder, limit)
            }
    }

    package init(_ refusal: DiskReservation.Refusal, in folder: FilePath) {
        switch refusal {
        case .tooLittle(let needed, let free):
            self = .noSpace(folder: folder.appending("x").userFolder, needed: needed, free: free)
        case .file(let error): self = .file(error)
        }
    }

    /// Why a store cannot be found.
    package init(finding path: FilePath, _ error: FileError) {
        self =
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: .noSuchFile(path)
            case .permissionDenied: .noPermission(path)
            default: .file(error)
            }
    }
}
