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

    /// The reasons of calls that fail because nothing has the name.
    package static let absence: [Errno] = [.noSuchFileOrDirectory, .notDirectory, .fileNameTooLong]

    /// Whether the call failed because nothing has the name.
    package var isOfAbsence: Bool { Self.absence.contains(errno) }

    /// - Returns: `nil` where nothing has the name.
    package static func unlessAbsent<Value: ~Copyable>(
        _ body: () throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        try unless(absence, body)
    }

    /// - Parameter reasons: Those for which the calls may fail.
    /// - Returns: `nil` where they fail for one of them.
    @discardableResult
    package static func unless<Value: ~Copyable>(
        _ reasons: [Errno], _ body: () throws(FileError) -> Value
    ) throws(FileError) -> Value? {
        do throws(FileError) {
            return try body()
        } catch {
            guard reasons.contains(error.errno) else { throw error }
            return nil
        }
    }

    /// - Returns: `false` where it fails for one of the reasons.
    package static func isDone(
        unless reasons: [Errno], _ body: () throws(FileError) -> Void
    ) throws(FileError) -> Bool {
        try unless(reasons, body) != nil
    }

    /// Whether the work was cancelled, and nothing else was wrong.
    package var isCancellation: Bool { errno == .canceled }
}
