import StoreFiles
import SystemPackage

/// The standard input of a process that is told one thing, some time after it was started. It ends with that, or with this
/// value.
final class CheckerInput {
    /// Our own: writing to a child that has ended would end this process too, by SIGPIPE, if nobody else could read it.
    private let read: FileDescriptor
    private var write: FileDescriptor?

    init() throws(Errno) {
        let (read, write) = try PlatformCalls.pipe()
        (self.read, self.write) = (read, write)
    }

    deinit {
        try? write?.close()
        try? read.close()
    }

    /// A descriptor to read from, for the child.
    func childEnd() throws(Errno) -> FileDescriptor {
        do throws(FileError) {
            return try PlatformCalls.duplicate(read, "")
        } catch {
            throw error.errno
        }
    }

    /// - Parameter bytes: No more than `CheckRequest.mostBytes`.
    func say(_ bytes: some Sequence<UInt8>) throws {
        defer {
            try? write?.close()
            write = nil
        }
        try write?.writeAll(bytes)
    }
}
