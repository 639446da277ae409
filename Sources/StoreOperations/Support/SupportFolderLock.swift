import ShipProtocol
import StoreFiles
import SystemPackage

/// The turn of one command in a folder of external files: of those that put files there or remove some, one at a time.
///
/// Stores of one stem share the folder, and what one of them alone refers to now, another may refer to a moment later. So a
/// command holds the lock from before it asks whose the files are (`SupportFolderClaims`) until its own rows say what they
/// are to say, and what goes has gone. Apps need none: Core Data makes up a new name for each file.
///
/// No two commands wait for each other in a circle, as all take what they hold in this order:
///
///     the copy that is read -> support folders -> the store -> the folder of safety copies
///
/// Several support folders are taken all at once, or none. Each wait ends with the busy timeout, and the kernel gives the
/// lock of a process back that dies.
package final class SupportFolderLock: Sendable {
    private let path: FilePath
    private let lock: FolderLock?
    /// The folder that was made for this command, as long as nothing is in it; `nil` if it was there.
    private let made: FileStatus.Identity?
    /// Whether files may be removed from the folder. What is in one that was not there comes from somebody else.
    package let permitsRemoval: Bool

    /// What a command is about to do with a folder.
    package enum Purpose: Hashable, Sendable {
        /// Where there is none, it makes one.
        case put
        /// Where there is none, nothing is to do.
        case remove
    }

    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    private init(
        _ path: FilePath, _ lock: consuming FolderLock?, made: FileStatus.Identity? = nil, permitsRemoval: Bool
    ) {
        self.path = path
        self.lock = lock
        self.made = made
        self.permitsRemoval = permitsRemoval
    }

    deinit {
        // The lock is held until this has ended; a folder that has the name by now and is another one is none of ours.
        guard let made, Self.identity(of: path) == made else { return }
        for subfolder in ExternalFileName.Folder.allCases {
            try? PlatformCalls.removeEmptyFolder(path.appending(subfolder.rawValue))
        }
        try? PlatformCalls.removeEmptyFolder(path)
    }

    /// Waits for the turn in one folder.
    ///
    /// - Throws: `.supportFolderBusy`, `.stopped`, `.file`.
    package static func take(
        _ folder: SupportFolder, to purpose: Purpose, _ patience: Patience
    ) throws(OperationError) -> SupportFolderLock {
        try take([(folder, purpose)], patience)[0]
    }

    /// Waits for the turn in several folders, and holds none of them meanwhile. Some may be the same one.
    ///
    /// - Returns: In the order of the folders.
    /// - Throws: `.supportFolderBusy`, `.stopped`, `.file`.
    package static func take(
        _ folders: [(folder: SupportFolder, purpose: Purpose)], _ patience: Patience
    ) throws(OperationError) -> [SupportFolderLock] {
        let end = ContinuousClock.now + patience.busyTimeout
        var made: Set<FileStatus.Identity> = []
        while true {
            let attempt = try OperationError.wrapping { () throws(FileError) in try self.attempt(folders, &made) }
            switch attempt {
            case .taken(let locks): return locks
            case .busy(let folder):
                try patience.check()
                guard ContinuousClock.now < end else {
                    throw .supportFolderBusy(folder, waited: patience.busyTimeout)
                }
            }
            PlatformCalls.pause(Self.pause)
        }
    }

    private enum Attempt {
        case taken([SupportFolderLock])
        case busy(FilePath)
    }

    /// - Parameter made: What was made meanwhile, although somebody else may have come first to lock it.
    private static func attempt(
        _ folders: [(folder: SupportFolder, purpose: Purpose)], _ made: inout Set<FileStatus.Identity>
    ) throws(FileError) -> Attempt {
        var taken: [FileStatus.Identity: SupportFolderLock] = [:]
        // Those that are there come first, and in one order for all: of two commands one gets all that it wants, and nothing is
        // made before.
        let found = folders.compactMap { request in identity(of: request.folder.path).map { (request.folder.path, $0) }
        }
        for (path, identity) in found.sorted(by: { ($0.1.device, $0.1.inode) < ($1.1.device, $1.1.inode) })
        where taken[identity] == nil {
            guard let lock = try take(path, identity, wasMade: made.contains(identity)) else { return .busy(path) }
            taken[identity] = lock
        }
        var locks: [SupportFolderLock] = []
        for (folder, purpose) in folders {
            let making: Making = purpose == .put ? try make(folder.path) : .impossible
            guard let identity = identity(of: folder.path) else {
                // Whoever was there first has removed it.
                if making != .impossible { return .busy(folder.path) }
                locks.append(SupportFolderLock(folder.path, nil, permitsRemoval: false))
                continue
            }
            if making == .done { made.insert(identity) }
            if taken[identity] == nil {
                taken[identity] = try take(folder.path, identity, wasMade: made.contains(identity))
            }
            guard let lock = taken[identity] else { return .busy(folder.path) }
            locks.append(lock)
        }
        return .taken(locks)
    }

    /// - Returns: `nil` if there is no folder. Through a symbolic link nothing is put, and nothing removed.
    private static func identity(of path: FilePath) -> FileStatus.Identity? {
        guard let status = try? PlatformCalls.status(of: path), status.kind == .folder else { return nil }
        return status.identity
    }

    /// - Returns: `nil` if somebody else has it, or it is not the folder any more that has the name.
    private static func take(
        _ path: FilePath, _ identity: FileStatus.Identity, wasMade: Bool
    ) throws(FileError) -> SupportFolderLock? {
        do throws(FileError) {
            guard let lock = try FolderLock.take(.exclusive, on: path), try lock.file.status.identity == identity,
                (try? PlatformCalls.status(of: path))?.identity == identity
            else { return nil }
            return SupportFolderLock(path, lock, made: wasMade ? identity : nil, permitsRemoval: true)
        } catch {
            switch (error.operation, error.errno) {
            case (.open, .noSuchFileOrDirectory), (.open, .notDirectory), (.open, .tooManySymbolicLinkLevels):
                return nil
            // On a medium that has no locks, and where this user may not look, the work itself goes as far as it can.
            case (.lock, _), (.open, .permissionDenied): return SupportFolderLock(path, nil, permitsRemoval: true)
            default: throw error
            }
        }
    }

    private enum Making { case done, wasThere, impossible }

    private static func make(_ path: FilePath) throws(FileError) -> Making {
        if let status = try? PlatformCalls.status(of: path) { return status.kind == .folder ? .wasThere : .impossible }
        do throws(FileError) {
            try Folder.make(path)
            return .done
        } catch {
            // What is to be put there says better what is wrong with the place.
            guard [.permissionDenied, .notPermitted, .readOnlyFileSystem, .notDirectory].contains(error.errno) else {
                throw error
            }
            return .impossible
        }
    }
}
