package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What stat(2) says, as far as it matters here.
package struct FileStatus: Hashable, Sendable {
    package let kind: Kind
    /// In bytes.
    package let size: Int64
    /// Permission bits.
    package let permissions: FilePermissions
    /// How many names the file has.
    package let links: Int
    /// Which file it is, whatever its name.
    package let device: UInt64
    package let inode: UInt64
    package let owner: UInt32
    /// When the content was changed last, since 1970, as finely as the file system tells.
    package let modified: Duration

    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, pipe, socket, characterDevice, other
    }

    /// Which file or folder it is, for as long as somebody has it open: once it is gone, another may get its inode.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package var identity: Identity { Identity(device: device, inode: inode) }

    init(_ raw: stat) {
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            default: .other
            }
        size = Int64(raw.st_size)
        permissions = FilePermissions(rawValue: raw.st_mode & 0o7777)
        links = Int(raw.st_nlink)
        device = UInt64(truncatingIfNeeded: raw.st_dev)
        inode = UInt64(truncatingIfNeeded: raw.st_ino)
        owner = raw.st_uid
        #if canImport(Darwin)
            let time = raw.st_mtimespec
        #else
            let time = raw.st_mtim
        #endif
        modified = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

/// Why others than this user may know what is in a file or a folder, or may have written it.
package enum Exposure: Hashable, Sendable {
    case ofOtherUser(UInt32)
    case toOthers(FilePermissions)
}

extension FileStatus {
    /// `nil` for what is its user's alone.
    package var exposure: Exposure? {
        guard owner == PlatformCalls.effectiveUser else { return .ofOtherUser(owner) }
        let others: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
        return permissions.isDisjoint(with: others) ? nil : .toOthers(permissions)
    }
}

/// What stat(2) says of a file that another file, or the same one with other content, would not have.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    /// In bytes.
    package let size: Int64
    /// When the content was changed last, since 1970. A program may set it to any time.
    package let modified: Duration
    /// When anything about it was changed last, its time included. Nobody sets this one.
    package let changed: Duration

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Duration, changed: Duration) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// lstat(2).
    ///
    /// - Throws: `.invalidArgument` for anything but a regular file.
    package init(of path: FilePath) throws(FileError) {
        var raw = stat()
        try PlatformCalls.check(.stat, path) { lstat($0, &raw) }
        guard raw.st_mode & S_IFMT == S_IFREG else { throw FileError(.stat, path, .invalidArgument) }
        #if canImport(Darwin)
            let (modified, changed) = (raw.st_mtimespec, raw.st_ctimespec)
        #else
            let (modified, changed) = (raw.st_mtim, raw.st_ctim)
        #endif
        func sinceEpoch(_ time: timespec) -> Duration {
            .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        }
        self.init(
            device: UInt64(truncatingIfNeeded: raw.st_dev), inode: UInt64(truncatingIfNeeded: raw.st_ino),
            size: Int64(raw.st_size), modified: sinceEpoch(modified), changed: sinceEpoch(changed))
    }

    /// The clock by which files get their times goes on in steps: 10 ms at most on Linux, where the clock is not finer by now.
    private static let clockStep = Duration.milliseconds(20)
    /// FAT has times of even seconds.
    private static let coarseStep = Duration.seconds(2)

    /// Whether a write from now on gives it another time than it has. After one that was right now, another one may come within
    /// the same step of the clock.
    ///
    /// - Parameter now: Since 1970.
    package func isSettled(at now: Duration) -> Bool {
        let isCoarse = modified.components.attoseconds == 0
        return now - max(modified, changed) > (isCoarse ? Self.coarseStep : Self.clockStep)
    }
}
