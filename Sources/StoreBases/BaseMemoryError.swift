public import StoreFiles
public import SystemPackage

/// Why what a producer remembers cannot be used, or not be changed.
public enum BaseMemoryError: Error, Hashable, Sendable {
    /// Other users may read or change it.
    case exposed(FilePath, FilePermissions)
    /// It belongs to another user.
    case otherOwner(FilePath, user: UInt32)
    /// It is a symbolic link, or anything else than a folder or a file should be.
    case notPlain(FilePath)
    /// The record of what is there makes no sense.
    case damaged(FilePath, flaw: String)
    /// Another program is changing it, and does not come to an end.
    case busy(FilePath)
    /// What is remembered no more is there still: another program reads it, or it cannot be removed.
    case stillThere(FilePath)
    /// The task was cancelled.
    case stopped
    case file(FileError)

    /// Runs calls of the platform.
    static func wrapping<Value: ~Copyable>(
        _ call: () throws(FileError) -> Value
    ) throws(BaseMemoryError) -> Value {
        do throws(FileError) {
            return try call()
        } catch {
            throw error.isCancellation ? .stopped : .file(error)
        }
    }
}
