import EssentialFoundation
import StoreFiles
import StoreServing
import SystemPackage

/// The inside of a process that checks one store, and does nothing else.
public enum CheckerProcess {
    /// The only argument with which a program is started to be one.
    public static let command = "check-store"

    /// The store, three standard streams, and what SQLite and the system open for a moment.
    private static let descriptors = 16

    /// Checks the store that standard input names, and says the verdict on standard output.
    ///
    /// Before the store is opened this process gives up all that it could do harm with; it is to end afterwards.
    ///
    /// - Returns: The exit status: 0 if there is a verdict.
    public static func run() -> Int32 {
        do {
            let bytes = try readAll(from: .standardInput, atMost: CheckRequest.mostBytes)
            let request = try JSONDecoder().decode(CheckRequest.self, from: Data(bytes))
            let verdict = verdict(on: request)
            let answer = try JSONEncoder().encode(verdict)
            try FileDescriptor.standardOutput.writeAll(answer)
            return 0
        } catch {
            return 1
        }
    }

    private static func verdict(on request: CheckRequest) -> CheckVerdict {
        let limits = request.limits
        // A whole second more than SQLite is given: its own word on the deadline comes first.
        let seconds = Int(min(limits.time.components.seconds, 1_000_000)) + 2
        guard PlatformCalls.confineThisProcess(memory: limits.memory, seconds: seconds, descriptors: descriptors) else {
            return .file(Errno.notPermitted.rawValue)
        }
        do throws(StoreCheck.Flaw) {
            let check = StoreCheck(limits: limits)
            return .sound(try check.checkContent(of: FilePath(request.file), against: request.claims, .ownProcess))
        } catch {
            return CheckVerdict(error)
        }
    }

    private static func readAll(from descriptor: FileDescriptor, atMost limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = try piece.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw Errno.messageTooLong }
        }
    }
}

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
