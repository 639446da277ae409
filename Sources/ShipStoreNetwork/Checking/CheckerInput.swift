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

    /// How long to wait before a full pipe is looked at again.
    private static let pause = Duration.milliseconds(2)

    /// Says all of it, as far as somebody reads it.
    ///
    /// - Parameter time: How long that may take.
    /// - Throws: `Errno`, `CancellationError`.
    func say(_ bytes: [UInt8], within time: Duration) async throws {
        defer {
            try? write?.close()
            write = nil
        }
        guard let write, let flags = PlatformCalls.statusFlags(of: write) else { return }
        PlatformCalls.setStatusFlags(PlatformCalls.nonBlocking(flags), of: write)
        let deadline = ContinuousClock.now + time
        var rest = bytes[...]
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try rest.withUnsafeBytes { try write.write($0) })
            } catch Errno.wouldBlock {
                guard ContinuousClock.now < deadline else { throw Errno.timedOut }
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}
