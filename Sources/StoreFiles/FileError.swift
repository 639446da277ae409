import ShipProtocol
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
        case measureSpace = "measure the space around"
        /// The app's `FileCreation` threw.
        case setAttributes = "set the attributes of"
    }

    package init(_ operation: Operation, _ path: FilePath, _ errno: Errno) {
        self.operation = operation
        self.path = path
        self.errno = errno
    }

    /// Whether the work was cancelled, and nothing else was wrong.
    package var isCancellation: Bool { errno == .canceled }

    /// Whether there was no room: the disk or the quota is full, or the file would exceed this process's limit (`RLIMIT_FSIZE`).
    public var isOutOfSpace: Bool { errno == .noSpace || errno == .diskQuotaExceeded || errno == .fileTooLarge }
}

extension FileError: CustomStringConvertible {
    public var description: String { "cannot \(operation.rawValue) \(path.text): \(errno)" }
}
