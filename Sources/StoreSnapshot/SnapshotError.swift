public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why no compact copy of a store could be taken. The store itself is as it was in every case.
public enum SnapshotError: Error, Hashable, Sendable {
    /// Nothing is there, or a folder on the way to it is not.
    case noSuchFile(FilePath)
    /// A folder stands where a file should.
    case folder(FilePath)
    /// A pipe, a socket, a device, or, where no link is followed, a symbolic link.
    case notARegularFile(FilePath)
    /// Another kind of file, or an encrypted one: they cannot be told apart.
    case notADatabase(FilePath)
    /// The file ends before its last page does. Both figures are in bytes.
    case truncated(FilePath, size: Int64, expected: Int64)
    case noPermission(FilePath)
    /// Another connection kept its exclusive lock for as long as the busy timeout, or the store changed under each take
    /// where it can only be read without locks.
    case busy(FilePath, waited: Duration)
    /// The schema needs a collation that only the app defines.
    case missingCollation(ForeignText)
    /// The schema needs an SQL function that only the app defines, or that this SQLite was built without.
    case missingFunction(ForeignText)
    /// The schema needs a virtual table module that this SQLite does not have.
    case missingModule(ForeignText)
    /// Part of the data is in the write-ahead log, and reading that needs an index file, which cannot be made there.
    case writeAheadLogOnReadOnlyMedium(FilePath)
    /// A transaction was cut off in the middle, and only a connection that may write can roll it back.
    case hotJournal(FilePath)
    /// SQLite's own first complaints.
    case corrupt(FilePath, complaints: [ForeignText])
    /// Both figures are in bytes; they are about the file system that holds the folder.
    case noSpace(folder: FilePath, needed: Int64, free: Int64)
    case missingExternalFile(ExternalFileReference, path: FilePath)
    case tooManyExternalFiles(limit: Int)
    /// A table whose rows were to be left out; with names of tables that may have been meant.
    case noSuchTable(ForeignText, near: [ForeignText])
    /// A table whose rows were to be left out.
    case tableMustStay(ForeignText, because: TableObstacle)
    /// The table in which a copy says what it came without: there is one of that name, and it is not ours.
    case tableIsTaken(ForeignText)
    /// Pairs of the store and of the shipment, together.
    case tooMuchMetadata(limit: Int)
    /// What was to be written is the store itself, or would stand where its own files do.
    case partOfStore(FilePath)
    case cancelled
    /// Any other error of SQLite: the extended result code (sqlite.org/rescode.html) and its message.
    case sqlite(code: Int32, message: ForeignText)
    case file(FileError)
}

extension SnapshotError {
    /// A file in the temporary folder that could not be written.
    ///
    /// - Parameter needed: What there should have been room for, in bytes.
    init(writing error: FileError, needed: Int64) {
        guard error.isOutOfSpace else {
            self = .file(error)
            return
        }
        let folder = error.path.removingLastComponent()
        self = .noSpace(folder: folder, needed: needed, free: (try? PlatformCalls.freeSpace(around: folder)) ?? 0)
    }
}

extension SnapshotError {
    /// - Parameter folder: Where the room was wanted.
    package init(_ refusal: SpaceLedger.Refusal, in folder: FilePath) {
        switch refusal {
        case .tooLittle(let needed, let free): self = .noSpace(folder: folder, needed: needed, free: free)
        case .file(let error): self = .file(error)
        }
    }
}

/// The cell of a Core Data store that refers to an external file.
public struct ExternalFileReference: Hashable, Sendable {
    public let table: ForeignText
    public let column: ForeignText
    /// `Z_PK`.
    public let row: Int64
    public let name: ExternalFileName

    package init(table: ForeignText, column: ForeignText, row: Int64, name: ExternalFileName) {
        self.table = table
        self.column = column
        self.row = row
        self.name = name
    }
}
