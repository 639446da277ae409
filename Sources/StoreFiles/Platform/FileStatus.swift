import CLibrary
package import SystemPackage

/// The part of stat(2)'s answer that matters here.
package struct FileStatus: Hashable, Sendable {
    package let kind: Kind
    /// In bytes.
    package let size: Int64
    package let permissions: FilePermissions
    /// Names of the file.
    package let links: Int
    /// Which file it is, whatever its name.
    package let device: UInt64
    package let inode: UInt64
    package let owner: UInt32
    package let group: UInt32
    /// When the content changed last, since 1970, at the file system's resolution. A program may set it to any time.
    package let modified: Duration
    /// When the content or the status changed last. No program can set it.
    package let changed: Duration

    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, pipe, socket, characterDevice, other
    }

    /// Which file or folder it is, while a process has it open: once it is gone, another may get its inode.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package var identity: Identity { Identity(device: device, inode: inode) }
}

extension FileStatus {
    init(_ raw: stat) {
        let kind: Kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            default: .other
            }
        #if canImport(Darwin)
            let (modified, changed) = (raw.st_mtimespec, raw.st_ctimespec)
        #else
            let (modified, changed) = (raw.st_mtim, raw.st_ctim)
        #endif
        func sinceEpoch(_ time: timespec) -> Duration {
            .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        }
        self.init(
            kind: kind, size: Int64(raw.st_size), permissions: FilePermissions(rawValue: raw.st_mode & 0o7777),
            links: Int(raw.st_nlink), device: UInt64(truncatingIfNeeded: raw.st_dev),
            inode: UInt64(truncatingIfNeeded: raw.st_ino), owner: raw.st_uid, group: raw.st_gid,
            modified: sinceEpoch(modified), changed: sinceEpoch(changed))
    }

    /// The clock of file times goes in steps: of at most 10 ms on Linux.
    private static let clockStep = Duration.milliseconds(20)
    /// FAT has times of even seconds.
    private static let coarseStep = Duration.seconds(2)

    /// Whether a write from now on, a time since 1970, changes its time. It does not if it falls into the same step of the clock as the last write.
    package func isSettled(at now: Duration) -> Bool { now - max(modified, changed) > step }

    /// The same of the time of its content alone: another name changes that of its status.
    package func isContentSettled(at now: Duration) -> Bool { now - modified > step }

    private var step: Duration { modified.components.attoseconds == 0 ? Self.coarseStep : Self.clockStep }
}
