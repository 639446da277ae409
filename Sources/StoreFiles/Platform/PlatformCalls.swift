import CLibrary
import CPlatform
import EssentialFoundation
package import SystemPackage

/// The calls of the platform that swift-system does not wrap, each with its error. The files of this folder
/// are the only ones that tell platforms apart.
package enum PlatformCalls {
    /// mkdirat(2): private to its owner.
    package static func makeFolder(_ place: some FilePlace) throws(FileError) {
        try check(.makeFolder, place) { mkdirat($0, $1, FilePermissions.ownerReadWriteExecute.rawValue) }
        try FileCreation.made(.folder, place.shownPath) { () throws(FileError) in try removeEmptyFolder(place) }
    }

    /// renameat(2): atomic, and it replaces what is there.
    package static func rename(_ source: some FilePlace, to target: some FilePlace) throws(FileError) {
        try check(.rename, source) { folder, name in target.named { renameat(folder, name, $0, $1) } }
    }

    /// linkat(2): a second name for the same file, or for a symbolic link itself. Where both are one after an error, only the answer was lost, as on
    /// a network.
    package static func hardLink(_ source: some FilePlace, as target: some FilePlace) throws(FileError) {
        do throws(FileError) {
            try check(.link, source) { folder, name in target.named { linkat(folder, name, $0, $1, 0) } }
        } catch {
            let (own, made) = (try? status(of: source).identity, try? status(of: target).identity)
            guard error.errno != .fileExists, own != nil, own == made else { throw error }
        }
    }

    /// realpath(3): absolute, and without symbolic links.
    package static func realPath(of path: FilePath) throws(FileError) -> FilePath {
        var resolved: FilePath?
        try check(.resolve, path) { _, path in
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

    /// symlinkat(2): `target` is stored as it is, relative to the folder of `place`.
    package static func symbolicLink(at place: some FilePlace, to target: FilePath) throws(FileError) {
        try check(.link, place) { folder, name in target.withPlatformString { symlinkat($0, folder, name) } }
    }

    /// readlinkat(2).
    package static func targetOfSymbolicLink(at place: some FilePlace) throws(FileError) -> FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        try check(.read, place) { readlinkat($0, $1, &buffer, buffer.count - 1) < 0 ? -1 : 0 }
        return FilePath(platformString: buffer)
    }

    /// unlinkat(2).
    package static func removeFile(_ place: some FilePlace) throws(FileError) {
        try check(.remove, place) { unlinkat($0, $1, 0) }
    }

    /// unlinkat(2) with `AT_REMOVEDIR`.
    package static func removeEmptyFolder(_ place: some FilePlace) throws(FileError) {
        try check(.remove, place) { unlinkat($0, $1, AT_REMOVEDIR) }
    }

    /// chmod(2).
    package static func changeMode(of path: FilePath, to mode: FilePermissions) throws(FileError) {
        try check(.changeMode, path) { chmod($1, mode.rawValue) }
    }

    /// fstatat(2): of a symbolic link itself.
    package static func status(of place: some FilePlace) throws(FileError) -> FileStatus {
        var raw = stat()
        try check(.stat, place) { fstatat($0, $1, &raw, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(raw)
    }

    /// The same, where nothing may be there.
    ///
    /// - Returns: `nil` only where nothing has the name: an error of the system proves nothing.
    package static func statusIfThere(of path: FilePath) throws(FileError) -> FileStatus? {
        try FileError.unlessAbsent { () throws(FileError) in try status(of: path) }
    }

    /// Whether anything has the name, even a symbolic link that leads nowhere.
    package static func isThere(_ path: FilePath) throws(FileError) -> Bool { try statusIfThere(of: path) != nil }

    /// fstatat(2): of what a symbolic link leads to.
    package static func statusFollowingLinks(of path: FilePath) throws(FileError) -> FileStatus {
        var raw = stat()
        try check(.stat, path) { fstatat($0, $1, &raw, 0) }
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
        let raw = try fileSystem(around: path)
        return raw.bytes(in: raw.f_bavail)
    }

    /// statvfs(3).
    ///
    /// - Returns: Bytes of the whole file system that holds `path`, used ones included.
    package static func diskSize(around path: FilePath) throws(FileError) -> Int64 {
        let raw = try fileSystem(around: path)
        return raw.bytes(in: raw.f_blocks)
    }

    private static func fileSystem(around path: FilePath) throws(FileError) -> statvfs {
        var raw = statvfs()
        try check(.measureSpace, path) { platformStatvfs($1, &raw) }
        return raw
    }

    /// statvfs(3): whether the file system that holds `path` can hold no more files, though it has bytes left. Some have no such limit, and
    /// say that they have room for none.
    static func hasNoMoreFiles(around path: FilePath) -> Bool {
        guard let raw = try? fileSystem(around: path) else { return false }
        return raw.f_bavail > 0 && raw.f_files > 0
    }

    /// getrlimit(2): the most bytes that a file may get by this process; `nil` for no limit.
    static var mostFileSize: Int64? {
        let size = ship_store_file_size_limit()
        return size == .max ? nil : size
    }

    /// signal(2): from here on a write beyond `RLIMIT_FSIZE` is an error, as on a full disk, and SIGXFSZ does not end the process.
    package static func ignoreFileSizeSignal() { _ = signal(SIGXFSZ, SIG_IGN) }

    /// fcntl(2), open(2): gives standard streams that are closed something that can neither be read nor written, so that nothing else gets
    /// their numbers, and whoever reads or writes there is told EBADF. To be called before anything is opened.
    package static func holdStandardStreams() {
        for stream in [FileDescriptor.standardInput, .standardOutput, .standardError]
        where fcntl(stream.rawValue, F_GETFD) < 0 {
            _ = try? FileDescriptor.open("/dev/null", stream == .standardInput ? .writeOnly : .readOnly)
        }
    }

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
    package static var timeOfDay: Duration { time(of: CLOCK_REALTIME) }

    /// clock_gettime(2): since the system's start, with its sleep. Nothing sets this clock, and all processes see the same.
    package static var timeSinceStart: Duration {
        #if canImport(Darwin)
            time(of: CLOCK_MONOTONIC)
        #else
            time(of: CLOCK_BOOTTIME)
        #endif
    }

    private static func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// getpid(2).
    package static var processID: Int32 { getpid() }

    /// geteuid(2).
    package static var effectiveUser: UInt32 { geteuid() }

    static func check(
        _ operation: FileError.Operation, _ place: some FilePlace,
        _ call: (CInt, UnsafePointer<CInterop.PlatformChar>) -> CInt
    ) throws(FileError) {
        let errno: Errno? = place.named { call($0, $1) == 0 ? nil : .last }
        if let errno { throw FileError(operation, place.shownPath, errno) }
    }
}

// The name of this function is that of a type.
private func platformStatvfs(_ path: UnsafePointer<CChar>, _ result: UnsafeMutablePointer<statvfs>) -> CInt {
    statvfs(path, result)
}

extension statvfs {
    func bytes(in blocks: some BinaryInteger) -> Int64 {
        let (bytes, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: Int64(f_frsize))
        return overflow ? .max : bytes
    }
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

    /// The answers of link(2) where the file system has no hard links, or no more of them for one file.
    package static let ofNoHardLinks: [Errno] = [.notPermitted, .notSupported, .noFunction, .tooManyLinks]

    /// `errno`, to be read right after the call that failed; and to be set before a call that tells of an error by it alone.
    static var last: Errno {
        get { Errno(rawValue: CLibrary.errno) }
        set { CLibrary.errno = newValue.rawValue }
    }
}
