package import SystemPackage

/// A lock on a folder, flock(2). It lives as long as this value; the kernel releases it when the process dies, however it dies.
///
/// Each value has a descriptor of its own, so that two locks in one process exclude each other as in two processes.
package struct FolderLock: ~Copyable, Sendable {
    /// The open folder, which stays the same whatever becomes of its name.
    package let file: OpenFile

    package enum Kind: Hashable, Sendable {
        /// Others may hold it too: a reader takes it so that the folder stays.
        case shared
        /// No other process or value holds it: a writer takes it to change or remove the folder.
        case exclusive
    }

    private init(_ file: consuming OpenFile) { self.file = file }

    /// Takes the lock if it is free. A symbolic link at the end of the path is an error.
    ///
    /// Another process may move or remove the folder just before the lock: a caller to whom that matters compares `file.status` with
    /// that of the path.
    ///
    /// - Returns: `nil` if another lock excludes this one.
    /// - Throws: `.noSuchFileOrDirectory` if the folder is not there.
    package static func take(_ kind: Kind, on folder: FilePath) throws(FileError) -> FolderLock? {
        try take(kind, on: try OpenFile.folder(folder))
    }

    /// Takes the lock of a folder below an open one, if it is free.
    package static func take(
        _ kind: Kind, on folder: FilePath, in above: borrowing OpenFolder
    ) throws(FileError) -> FolderLock? {
        try take(kind, on: try above.folderToLock(at: folder))
    }

    /// How often `takeSoon` looks, and the time between.
    private static let attempts = 5
    private static let pause = Duration.milliseconds(2)

    /// Takes the lock if it is free within some milliseconds: who only looks whether somebody has it holds it for an instant.
    package static func takeSoon(_ kind: Kind, on folder: FilePath) throws(FileError) -> FolderLock? {
        try trying { () throws(FileError) in try take(kind, on: folder) }
    }

    /// The same of a folder below an open one.
    package static func takeSoon(
        _ kind: Kind, on folder: FilePath, in above: borrowing OpenFolder
    ) throws(FileError) -> FolderLock? {
        try trying { () throws(FileError) in try take(kind, on: folder, in: above) }
    }

    private static func trying(_ take: () throws(FileError) -> FolderLock?) throws(FileError) -> FolderLock? {
        for _ in 1..<attempts {
            if let lock = try take() { return lock }
            PlatformCalls.pause(pause)
        }
        return try take()
    }

    private static func take(_ kind: Kind, on file: consuming OpenFile) throws(FileError) -> FolderLock? {
        guard try PlatformCalls.tryLock(file.descriptor, file.path, kind) else { return nil }
        return FolderLock(file)
    }
}
