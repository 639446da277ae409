import CLibrary
import CPlatform
import EssentialFoundation
package import SystemPackage

/// The calls of the platform that swift-system does not wrap, each with its error. The files of this folder
/// are the only ones that tell platforms apart.
package enum PlatformCalls {
    /// mkdir(2).
    package static func makeFolder(_ path: FilePath) throws(FileError) {
        try check(.makeFolder, path) { mkdir($0, FilePermissions.ownerReadWriteExecute.rawValue) }
        try FileCreation.made(.folder, path) { () throws(FileError) in try removeEmptyFolder(path) }
    }

    /// rename(2): atomic, and it replaces what is there.
    package static func rename(_ source: FilePath, to target: FilePath) throws(FileError) {
        try check(.rename, source) { source in target.withPlatformString { CLibrary.rename(source, $0) } }
    }

    /// link(2): a second name for the same file.
    package static func hardLink(_ source: FilePath, as target: FilePath) throws(FileError) {
        try check(.link, source) { source in target.withPlatformString { link(source, $0) } }
    }

    /// realpath(3): absolute, and without symbolic links.
    package static func realPath(of path: FilePath) throws(FileError) -> FilePath {
        var resolved: FilePath?
        try check(.resolve, path) { path in
            guard let raw = realpath(path, nil) else { return -1 }
            resolved = FilePath(platformString: raw)
            free(raw)
            return 0
        }
        return resolved ?? path
    }

    /// The same of a path of which the end need not be there.
    package static func realPlace(of path: FilePath) -> FilePath {
        if let real = try? realPath(of: path.isEmpty ? "." : path) { return real }
        guard let name = path.lastComponent else { return path }
        return realPlace(of: path.removingLastComponent()).appending(name)
    }

    /// faccessat(2): whether this process, as whom it acts now, may write to the file or the folder.
    package static func canWrite(_ path: FilePath) -> Bool {
        path.withPlatformString { faccessat(AT_FDCWD, $0, W_OK, AT_EACCESS) } == 0
    }

    /// symlink(2): `target` is stored as it is, relative to the folder of `path`.
    package static func symbolicLink(at path: FilePath, to target: FilePath) throws(FileError) {
        try check(.link, path) { path in target.withPlatformString { symlink($0, path) } }
    }

    /// readlink(2).
    package static func targetOfSymbolicLink(at path: FilePath) throws(FileError) -> FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = path.withPlatformString { readlink($0, &buffer, buffer.count - 1) }
        guard count >= 0 else { throw FileError(.read, path, .last) }
        return FilePath(platformString: buffer)
    }

    /// unlink(2).
    package static func removeFile(_ path: FilePath) throws(FileError) {
        try check(.remove, path) { unlink($0) }
    }

    /// rmdir(2).
    package static func removeEmptyFolder(_ path: FilePath) throws(FileError) {
        try check(.remove, path) { rmdir($0) }
    }

    /// chmod(2).
    package static func changeMode(of path: FilePath, to mode: FilePermissions) throws(FileError) {
        try check(.changeMode, path) { chmod($0, mode.rawValue) }
    }

    /// lstat(2): of a symbolic link itself.
    package static func status(of path: FilePath) throws(FileError) -> FileStatus {
        var raw = stat()
        try check(.stat, path) { lstat($0, &raw) }
        return FileStatus(raw)
    }

    /// lstat(2), where nothing may be there.
    ///
    /// - Returns: `nil` only where nothing has the name: an error of the system proves nothing.
    package static func statusIfThere(of path: FilePath) throws(FileError) -> FileStatus? {
        try FileError.unlessAbsent { () throws(FileError) in try status(of: path) }
    }

    /// Whether anything has the name, even a symbolic link that leads nowhere.
    package static func isThere(_ path: FilePath) throws(FileError) -> Bool { try statusIfThere(of: path) != nil }

    /// stat(2): of what a symbolic link leads to.
    package static func statusFollowingLinks(of path: FilePath) throws(FileError) -> FileStatus {
        var raw = stat()
        try check(.stat, path) { platformStat($0, &raw) }
        return FileStatus(raw)
    }

    /// fstat(2).
    package static func status(of descriptor: FileDescriptor, _ path: FilePath) throws(FileError) -> FileStatus {
        var raw = stat()
        guard fstat(descriptor.rawValue, &raw) == 0 else { throw FileError(.stat, path, .last) }
        return FileStatus(raw)
    }

    /// statvfs(3).
    ///
    /// - Returns: Bytes that this process may still write to the file system that holds `path`.
    package static func freeSpace(around path: FilePath) throws(FileError) -> Int64 {
        var raw = statvfs()
        try check(.measureSpace, path) { platformStatvfs($0, &raw) }
        let (bytes, overflow) = Int64(clamping: raw.f_bavail).multipliedReportingOverflow(by: Int64(raw.f_frsize))
        return overflow ? .max : bytes
    }

    /// statvfs(3).
    ///
    /// - Returns: Bytes of the whole file system that holds `path`, used ones included.
    package static func diskSize(around path: FilePath) throws(FileError) -> Int64 {
        var raw = statvfs()
        try check(.measureSpace, path) { platformStatvfs($0, &raw) }
        let (bytes, overflow) = Int64(clamping: raw.f_blocks).multipliedReportingOverflow(by: Int64(raw.f_frsize))
        return overflow ? .max : bytes
    }

    /// statvfs(3): whether the file system that holds `path` can hold no more files, though it has bytes left. Some have no such limit, and
    /// say that they have room for none.
    static func hasNoMoreFiles(around path: FilePath) -> Bool {
        var raw = statvfs()
        guard (try? check(.measureSpace, path, { platformStatvfs($0, &raw) })) != nil else { return false }
        return raw.f_bavail > 0 && raw.f_files > 0
    }

    /// getrlimit(2): the most bytes that a file may get by this process; `nil` for no limit.
    static var mostFileSize: Int64? {
        let size = ship_store_file_size_limit()
        return size == .max ? nil : size
    }

    /// signal(2): from here on a write beyond `RLIMIT_FSIZE` is an error, as on a full disk, and SIGXFSZ does not end the process.
    package static func ignoreFileSizeSignal() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// signal(2): from here on a write to a pipe without a reader is an error, and SIGPIPE does not end the process. Programs that it
    /// starts take the signal as ever, since a handler, unlike SIG_IGN, is not inherited over execve(2).
    package static func surviveClosedPipes() { _ = signal(SIGPIPE) { _ in } }

    /// nanosleep(2): lets the thread rest for that long, or less if a signal comes.
    package static func pause(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }

    /// clock_gettime(2) `CLOCK_REALTIME`: what file systems write, since 1970.
    package static var timeOfDay: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// clock_gettime(2): since the system's start, with its sleep. Nothing sets this clock, and all processes see the same.
    package static var timeSinceStart: Duration {
        #if canImport(Darwin)
            let clock = CLOCK_MONOTONIC
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// getpid(2).
    package static var processID: Int32 { getpid() }

    /// geteuid(2).
    package static var effectiveUser: UInt32 { geteuid() }

    static func check(
        _ operation: FileError.Operation, _ path: FilePath, _ call: (UnsafePointer<CInterop.PlatformChar>) -> CInt
    ) throws(FileError) {
        var errno: Errno?
        path.withPlatformString { if call($0) != 0 { errno = .last } }
        if let errno { throw FileError(operation, path, errno) }
    }
}

// The names of these functions are those of a type.
private func platformStat(_ path: UnsafePointer<CChar>, _ result: UnsafeMutablePointer<stat>) -> CInt {
    stat(path, result)
}
private func platformStatvfs(_ path: UnsafePointer<CChar>, _ result: UnsafeMutablePointer<statvfs>) -> CInt {
    statvfs(path, result)
}

extension Errno {
    /// The number in an error of Foundation or swift-system; `nil` if it has none.
    init?(of error: any Error) {
        switch error {
        case let error as Errno: self = error
        case let error as POSIXError: self.init(rawValue: error.code.rawValue)
        default: return nil
        }
    }

    /// An answer of link(2) where the file system has no hard links, or no more of them for one file.
    package var tellsOfNoHardLinks: Bool {
        [.notPermitted, .notSupported, .noFunction, .tooManyLinks].contains(self)
    }

    /// `errno`, to be read right after the call that failed; and to be set before a call that tells of an error by it alone.
    static var last: Errno {
        get { Errno(rawValue: CLibrary.errno) }
        set { CLibrary.errno = newValue.rawValue }
    }
}
