package import SystemPackage

/// A lock on a folder, flock(2), held by the process that made this value for as long as the value lives, and given back
/// by the kernel when that process dies, however it dies.
///
/// Each value has a descriptor of its own, so that two in one process are as strange to each other as two in two processes.
package struct FolderLock: ~Copyable, Sendable {
    /// The folder, open: what is reached through it stays in it whatever becomes of its name.
    package let file: OpenFile

    package enum Kind: Hashable, Sendable {
        /// Others may hold it as well: a reader that wants the folder to stay.
        case shared
        /// Nobody else holds it: whoever changes or removes the folder.
        case exclusive
    }

    private init(_ file: consuming OpenFile) { self.file = file }

    /// Takes the lock if it is free. A symbolic link at the end of the path is an error.
    ///
    /// The folder may have been moved or removed between the look at its name and the lock: whoever cares compares
    /// `file.status` with that of the path.
    ///
    /// - Returns: `nil` if somebody holds a lock that excludes this one.
    /// - Throws: `.noSuchFileOrDirectory` if the folder is not there.
    package static func take(_ kind: Kind, on folder: FilePath) throws(FileError) -> FolderLock? {
        try take(kind, on: try OpenFile.readingWithoutFollowing(folder))
    }

    /// Takes the lock of a folder below an open one, if it is free.
    package static func take(
        _ kind: Kind, on folder: FilePath, in above: borrowing OpenFolder
    ) throws(FileError) -> FolderLock? {
        try take(kind, on: try above.folderToLock(at: folder))
    }

    private static func take(_ kind: Kind, on file: consuming OpenFile) throws(FileError) -> FolderLock? {
        guard try PlatformCalls.tryLock(file.descriptor, file.path, kind) else { return nil }
        return FolderLock(file)
    }
}
