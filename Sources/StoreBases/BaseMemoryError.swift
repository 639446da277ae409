public import StoreFiles
public import SystemPackage

/// Why the memory of a producer cannot be read or changed.
public enum BaseMemoryError: Error, Hashable, Sendable {
    /// Other users may read or change it.
    case exposed(FilePath, FilePermissions)
    /// It belongs to another user.
    case otherOwner(FilePath, user: UInt32)
    /// A symbolic link, or another kind of file than expected.
    case notPlain(FilePath)
    /// A later version of this program wrote the index, in a format of this version, which this one does not know.
    case newerFormat(FilePath, Int)
    /// The index cannot be understood.
    case damaged(FilePath, flaw: String)
    /// Another program keeps it locked.
    case busy(FilePath)
    /// A file that was forgotten is still there: another program reads it, or it cannot be removed.
    case stillThere(FilePath)
    /// There is no room for a copy in the memory's folder, even if everything else is forgotten that is not pinned.
    case noRoom(FilePath)
    /// The task was cancelled.
    case stopped
    case file(FileError)
}

extension BaseMemoryError: FileErrorWrapping {
    package init(ofFile error: FileError) { self = error.isCancellation ? .stopped : .file(error) }
}
