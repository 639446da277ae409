import ShipProtocol
import StoreFiles
import SystemPackage

/// The lock under which commands put files into a folder of external files, or remove some: one command at a time.
///
/// Stores of one stem share the folder, and what one of them alone refers to now, another may refer to a moment later. So a
/// command takes the lock before it asks which store the files belong to (`SupportFolderClaims`), and holds it until its own
/// store is written and files are removed. Apps need no lock: Core Data makes up a new name for each file.
///
/// No two commands wait for each other in a circle, as all take what they hold in this order:
///
///     the copy that is read -> support folders -> the store -> the folder of safety copies
///
/// Several support folders are locked all at once, or none is. Each wait ends with the busy timeout, and the kernel releases the
/// locks of a process that dies.
package final class SupportFolderLock: Sendable {
    private let path: FilePath
    private let lock: FolderLock?
    private let identity: FileStatus.Identity?
    /// The folders that were not there before this command, the innermost first: those go in which nothing is.
    private let absent: [FilePath]
    /// Whether files may be removed from the folder. A folder that was not there may have been filled by another process since.
    package let permitsRemoval: Bool

    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    private init(
        _ path: FilePath, _ lock: consuming FolderLock?, _ identity: FileStatus.Identity? = nil,
        absent: [FilePath] = [], permitsRemoval: Bool
    ) {
        self.path = path
        self.lock = lock
        (self.identity, self.absent) = (identity, absent)
        self.permitsRemoval = permitsRemoval
    }

    deinit {
        // The lock is held until this has ended; a folder that has the name by now and is another one is none of ours.
        guard let identity, !absent.isEmpty, (try? Self.identity(of: path)) == identity else { return }
        for folder in absent { try? PlatformCalls.removeEmptyFolder(folder) }
    }

    /// Waits for the lock of one folder.
    ///
    /// - Parameter isToPut: Whether the command may put files into the folder: where there is none, one is made. Otherwise it only
    ///   removes files: where there is none, nothing is to do.
    /// - Throws: `.supportFolderBusy`, `.stopped`, `.file`.
    package static func take(
        _ folder: SupportFolder, toPut isToPut: Bool, _ busyHandler: BusyHandler
    ) throws(OperationError) -> SupportFolderLock {
        try take([(folder, isToPut)], busyHandler)[0]
    }

    /// Waits for the locks of several folders, and holds none of them meanwhile. Some may be the same folder.
    ///
    /// - Parameter folders: Each with what `take` of one folder says of `isToPut`.
    /// - Returns: In the order of the folders.
    /// - Throws: `.supportFolderBusy`, `.stopped`, `.file`.
    package static func take(
        _ folders: [(folder: SupportFolder, isToPut: Bool)], _ busyHandler: BusyHandler
    ) throws(OperationError) -> [SupportFolderLock] {
        let end = ContinuousClock.now + busyHandler.busyTimeout
        var made: Set<FileStatus.Identity> = []
        while true {
            let attempt = try OperationError.wrapping { () throws(FileError) in try self.attempt(folders, &made) }
            guard let busy = attempt.busy else { return attempt.taken }
            try busyHandler.check()
            guard ContinuousClock.now < end else { throw .supportFolderBusy(busy, waited: busyHandler.busyTimeout) }
            PlatformCalls.pause(Self.pause)
        }
    }

    /// - Parameter made: The folders made so far, although another command may have been first to lock them.
    /// - Returns: All locks, or the folder whose lock another command has.
    private static func attempt(
        _ folders: [(folder: SupportFolder, isToPut: Bool)], _ made: inout Set<FileStatus.Identity>
    ) throws(FileError) -> (taken: [SupportFolderLock], busy: FilePath?) {
        var taken: [FileStatus.Identity: SupportFolderLock] = [:]
        // Those that are there come first, and in one order for all: of two commands one gets all that it wants, and nothing is
        // made before.
        var found: [(FilePath, FileStatus.Identity)] = []
        for (folder, _) in folders {
            if let identity = try identity(of: folder.path) { found.append((folder.path, identity)) }
        }
        for (path, identity) in found.sorted(by: { ($0.1.device, $0.1.inode) < ($1.1.device, $1.1.inode) })
        where taken[identity] == nil {
            let isToPut = folders.contains { $0.folder.path == path && $0.isToPut }
            guard let lock = try take(path, identity, toPut: isToPut, wasMade: made.contains(identity)) else {
                return ([], path)
            }
            taken[identity] = lock
        }
        var locks: [SupportFolderLock] = []
        for (folder, isToPut) in folders {
            let (isThere, isNew) = try isToPut ? make(folder.path) : (false, false)
            guard let identity = try identity(of: folder.path) else {
                // The command that was first to lock it has removed it.
                if isThere { return ([], folder.path) }
                locks.append(SupportFolderLock(folder.path, nil, permitsRemoval: false))
                continue
            }
            if isNew { made.insert(identity) }
            if taken[identity] == nil {
                taken[identity] = try take(folder.path, identity, toPut: isToPut, wasMade: made.contains(identity))
            }
            guard let lock = taken[identity] else { return ([], folder.path) }
            locks.append(lock)
        }
        return (locks, nil)
    }

    /// - Returns: `nil` if there is no folder. Through a symbolic link nothing is put, and nothing removed.
    private static func identity(of path: FilePath) throws(FileError) -> FileStatus.Identity? {
        guard let status = try PlatformCalls.statusIfThere(of: path), status.kind == .folder else { return nil }
        return status.identity
    }

    /// - Returns: `nil` if another command has it, or the name is another folder's by now.
    private static func take(
        _ path: FilePath, _ identity: FileStatus.Identity, toPut isToPut: Bool, wasMade: Bool
    ) throws(FileError) -> SupportFolderLock? {
        do throws(FileError) {
            guard let lock = try FolderLock.take(.exclusive, on: path), try lock.file.status.identity == identity,
                try PlatformCalls.statusIfThere(of: path)?.identity == identity
            else { return nil }
            let inner = isToPut ? ExternalFileName.Folder.allCases.map { path.appending($0.rawValue) } : []
            let absent = inner.filter { (try? PlatformCalls.isThere($0)) == false } + (wasMade ? [path] : [])
            return SupportFolderLock(path, lock, identity, absent: absent, permitsRemoval: true)
        } catch {
            switch (error.operation, error.errno) {
            case (.open, .noSuchFileOrDirectory), (.open, .notDirectory), (.open, .tooManySymbolicLinkLevels):
                return nil
            // On a file system without locks, or where this user may not read the folder, the work goes on without a lock.
            case (.lock, _), (.open, .permissionDenied): return SupportFolderLock(path, nil, permitsRemoval: true)
            default: throw error
            }
        }
    }

    /// - Returns: Whether there is a folder, and whether it was made now.
    private static func make(_ path: FilePath) throws(FileError) -> (isThere: Bool, isNew: Bool) {
        if let status = try PlatformCalls.statusIfThere(of: path) { return (status.kind == .folder, false) }
        do throws(FileError) {
            try Folder.make(path)
            return (true, true)
        } catch {
            // The copying of the files will report the problem better.
            guard [.permissionDenied, .notPermitted, .readOnlyFileSystem, .notDirectory].contains(error.errno) else {
                throw error
            }
            return (false, false)
        }
    }
}
