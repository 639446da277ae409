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
