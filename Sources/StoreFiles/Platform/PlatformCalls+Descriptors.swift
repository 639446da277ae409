import CLibrary
import CPlatform
package import SystemPackage

/// Calls on open files.
extension PlatformCalls {
    /// fsync(2); `F_FULLFSYNC` where fsync does not reach the medium. Never to be retried: after a failure the kernel
    /// may have dropped the pages [ATC'20 "Can applications recover from fsync failures?"].
    package static func sync(_ descriptor: FileDescriptor, _ path: FilePath) throws(FileError) {
        #if canImport(Darwin)
            let result = fcntl(descriptor.rawValue, F_FULLFSYNC)
        #else
            let result = fsync(descriptor.rawValue)
        #endif
        guard result == 0 else { throw FileError(.sync, path, .last) }
    }

    /// flock(2), without waiting.
    ///
    /// - Returns: Whether the lock was free. It goes with the last copy of the descriptor.
    package static func tryLock(
        _ descriptor: FileDescriptor, _ path: FilePath, _ kind: FolderLock.Kind = .exclusive
    ) throws(FileError) -> Bool {
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        if flock(descriptor.rawValue, operation | LOCK_NB) == 0 { return true }
        let errno = Errno.last
        guard errno == .wouldBlock else { throw FileError(.lock, path, errno) }
        return false
    }

    /// posix_fadvise(2): the next reads come from the medium, if the platform can do that. It drops only synced pages.
    package static func dropCache(of descriptor: FileDescriptor) {
        #if canImport(Glibc) || canImport(Musl)
            _ = posix_fadvise(descriptor.rawValue, 0, 0, POSIX_FADV_DONTNEED)
        #endif
    }

    /// isatty(3).
    package static func isTerminal(_ descriptor: FileDescriptor) -> Bool { isatty(descriptor.rawValue) == 1 }

    /// ioctl(2) `TIOCGWINSZ`.
    ///
    /// - Returns: Columns of a terminal; `nil` if it does not say.
    package static func terminalColumns(of descriptor: FileDescriptor) -> Int? {
        let columns = Int(ship_store_terminal_columns(descriptor.rawValue))
        return columns > 0 ? columns : nil
    }

    /// fcntl(2) `F_DUPFD_CLOEXEC`: a second descriptor of the same open file, which no child inherits.
    package static func duplicate(_ descriptor: FileDescriptor, _ path: FilePath) throws(FileError) -> FileDescriptor {
        let copy = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw FileError(.open, path, .last) }
        return FileDescriptor(rawValue: copy)
    }

    /// fstat(2) of each descriptor that `/dev/fd` shows: whether this process has a file open.
    package static func hasOpen(_ identity: FileStatus.Identity) -> Bool {
        let numbers = ((try? Folder.names(in: "/dev/fd")) ?? []).compactMap { CInt($0) }
        return numbers.contains { (try? status(of: FileDescriptor(rawValue: $0), "/dev/fd"))?.identity == identity }
    }

    /// pipe2(2): no child inherits its ends, not even one that another thread starts meanwhile.
    package static func pipe() throws(Errno) -> (read: FileDescriptor, write: FileDescriptor) {
        var ends: [CInt] = [-1, -1]
        guard ship_store_pipe(&ends) == 0 else { throw .last }
        return (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
    }

    /// A pipe to which poll(2) says something can be written takes so many bytes at once [pipe(7)].
    package static let pipeRoom = Int(PIPE_BUF)

    /// poll(2): waits until something can be written, or a write tells why not.
    ///
    /// - Parameter limit: In milliseconds.
    package static func canWrite(to descriptor: FileDescriptor, within limit: CInt) -> Bool {
        var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, limit) > 0
    }

    /// poll(2): waits until there is something to read from one of the descriptors, or the time is over.
    ///
    /// - Parameter time: `nil` for as long as it takes.
    package static func waitForInput(from descriptors: [FileDescriptor], atMost time: Duration?) {
        var entries = descriptors.map { pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0) }
        let limit = time.map { CInt(max(0, min(($0 / .milliseconds(1)).rounded(.up), Double(CInt.max)))) }
        _ = poll(&entries, nfds_t(entries.count), limit ?? -1)
    }

    /// Whether there is something to read now.
    package static func hasInput(_ descriptor: FileDescriptor) -> Bool {
        var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// fcntl(2) `F_GETFL`: the flags of the open file, which all its descriptors share, in this process or another.
    ///
    /// - Returns: `nil` if the descriptor is not open.
    package static func statusFlags(of descriptor: FileDescriptor) -> CInt? {
        let flags = fcntl(descriptor.rawValue, F_GETFL)
        return flags >= 0 ? flags : nil
    }

    /// fcntl(2) `F_SETFL`: puts back what `statusFlags` gave.
    package static func setStatusFlags(_ flags: CInt, of descriptor: FileDescriptor) {
        _ = fcntl(descriptor.rawValue, F_SETFL, flags)
    }

    /// The same flags for descriptors that fail rather than wait.
    package static func nonBlocking(_ flags: CInt) -> CInt { flags | O_NONBLOCK }
}
