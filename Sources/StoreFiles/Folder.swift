import EssentialFoundation
package import SystemPackage

/// What is done to folders as a whole.
package enum Folder {
    /// Whether what is made has to survive a power cut.
    package enum Lasting: Hashable { case durably, forNow }

    /// Makes the folder, private to its owner, and those above it that are missing, each made durable in its parent where that matters.
    package static func make(_ path: FilePath, _ lasting: Lasting = .durably) throws(FileError) {
        do throws(FileError) {
            try PlatformCalls.makeFolder(path)
        } catch {
            switch error.errno {
            case .fileExists:
                guard try PlatformCalls.statusFollowingLinks(of: path).kind == .folder else {
                    throw FileError(.makeFolder, path, .notDirectory)
                }
                return
            case .noSuchFileOrDirectory where !path.removingLastComponent().isEmpty && path.lastComponent != nil:
                try make(path.removingLastComponent(), lasting)
                return try make(path, lasting)
            default: throw error
            }
        }
        guard lasting == .durably else { return }
        let parent = path.removingLastComponent()
        try sync(parent.isEmpty ? "." : parent)
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package static func names(in path: FilePath) throws(FileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path.string).sorted()
        } catch {
            let status = try PlatformCalls.statusFollowingLinks(of: path)
            throw FileError(.listFolder, path, status.kind == .folder ? .permissionDenied : .notDirectory)
        }
    }

    /// Removes a file, a link or a folder with all that is in it. What is not there is no error.
    package static func removeTree(at path: FilePath) throws(FileError) {
        guard (try? PlatformCalls.status(of: path)) != nil else { return }
        do {
            try FileManager.default.removeItem(atPath: path.string)
        } catch {
            guard (try? PlatformCalls.status(of: path)) != nil else { return }
            throw FileError(.remove, path, .permissionDenied)
        }
    }

    /// fsync(2) on the folder: without it a rename in it may not survive a power cut.
    package static func sync(_ path: FilePath) throws(FileError) {
        let descriptor = try OpenFile.reading(path)
        try PlatformCalls.sync(descriptor.descriptor, path)
    }
}

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
