public import SystemPackage

/// A failed call of the platform: the operation, its path, and the reason.
public struct FileError: Error, Hashable, Sendable {
    public let operation: Operation
    public let path: FilePath
    public let errno: Errno

    public enum Operation: String, Hashable, Sendable {
        case open, read, write, sync, link, rename, remove, lock, resolve, watch
        case stat = "look at"
        case makeFolder = "make the folder"
        case makeFolderIn = "make a folder in"
        case listFolder = "list the folder"
        case changeMode = "change the mode of"
        case changeTime = "set the time of"
        case changeOwner = "change the owner of"
        case measureSpace = "measure the space around"
        /// The app's `FileCreation` threw.
        case setAttributes = "set the attributes of"
    }

    package init(_ operation: Operation, _ path: FilePath, _ errno: Errno) {
        self.operation = operation
        // A name by a descriptor says nothing to anybody.
        self.path = path.nameForOthers
        self.errno = errno
    }

    /// Whether the call failed because nothing has the name.
    package var isOfAbsence: Bool { [.noSuchFileOrDirectory, .notDirectory, .fileNameTooLong].contains(errno) }

    /// - Returns: `nil` where nothing has the name.
    package static func unlessAbsent<Value: ~Copyable>(
        _ body: () throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isOfAbsence else { throw error }
            return nil
        }
    }

    /// Whether the work was cancelled, and nothing else was wrong.
    package var isCancellation: Bool { errno == .canceled }
}
