import EssentialFoundation
import ShipProtocol
public import ShipStore
import StoreFiles
import StoreServing
import Subprocess
import Synchronization
public import SystemPackage

extension CheckOptions.Place {
    /// In a process of its own, without rights, which is killed when its time is over.
    ///
    /// - Parameter program: Started with `CheckerProcess.command` as its only argument. It must then only call `CheckerProcess.run()`.
    public static func childProcess(program: FilePath) -> Self {
        Self(program: program) { CheckerChild(program, $0, in: $1) }
    }
}

/// The outside of a process that checks one store: starts it before the store is complete, sends it the request, waits for its verdict,
/// and kills it when its time is over or the check is cancelled.
final class CheckerChild: StartedChecker {
    /// How long sending the request and reading the verdict may take, beside the check itself.
    private static let grace = Duration.seconds(3)
    /// The child inherits no variable. A crash needs no backtrace, which takes time, and one arena of memory is enough.
    private static let environment: Environment = .custom(["SWIFT_BACKTRACE": "enable=no", "MALLOC_ARENA_MAX": "1"])
    /// The descriptors that it takes to start the process: three pipes, their duplicates, a folder, and what watches the end of a process.
    private static let leastDescriptors = 12
    /// Longest text of a verdict that is passed on, in bytes.
    private static let textLimit = 1024

    private let limits: CheckLimits
    private let input: Result<CheckerInput, Errno>
    private let process: Task<Ending, Never>

    private typealias Ending = Result<(status: TerminationStatus, output: [UInt8]), StoreCheck.Flaw>

    /// - Parameter folder: Where the process runs: the folder of the store.
    init(_ program: FilePath, _ limits: CheckLimits, in folder: FilePath) {
        self.limits = limits
        do throws(Errno) {
            // Subprocess ends this process, or hangs, where descriptors run out while it starts another.
            guard PlatformCalls.freeDescriptors >= Self.leastDescriptors else { throw .tooManyOpenFiles }
            let input = try CheckerInput()
            process = Self.start(program, limits, in: folder, try input.childEnd())
            self.input = .success(input)
        } catch {
            input = .failure(error)
            process = Task { .failure(.checkerNotStarted(error.rawValue)) }
        }
    }

    deinit { process.cancel() }

    /// Kills the process, if it still runs, and waits for its end: this program must not end while Subprocess starts a process.
    func end() async {
        process.cancel()
        _ = await Self.ending(of: process, within: .zero)
    }

    private static func start(
        _ program: FilePath, _ limits: CheckLimits, in folder: FilePath, _ input: FileDescriptor
    ) -> Task<Ending, Never> {
        Task {
            do {
                var platform = PlatformOptions()
                // An empty sequence kills the process at once.
                platform.teardownSequence = []
                // Subprocess takes the folder for text, and its path may be none.
                let opened = try OpenFolder(following: folder)
                defer { withExtendedLifetime(opened) { _ in } }
                let nowhere = try OpenFile.nowhere(.writeOnly)
                defer { withExtendedLifetime(nowhere) { _ in } }
                let result = try await Subprocess.run(
                    .path(program), arguments: [CheckerProcess.command], environment: environment,
                    workingDirectory: opened.pathByDescriptor, platformOptions: platform,
                    input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                    output: .bytes(limit: CheckVerdict.mostBytes),
                    error: .fileDescriptor(nowhere.descriptor, closeAfterSpawningProcess: false))
                return .success((result.terminationStatus, result.standardOutput))
            } catch let error as SubprocessError {
                guard error.code != .outputLimitExceeded else { return .failure(.checkerSaidNonsense) }
                let errno = error.underlyingError ?? .noSuchFileOrDirectory
                return .failure(.checkerNotStarted(errno.rawValue))
            } catch let error as FileError {
                try? input.close()
                return .failure(.checkerNotStarted(error.errno.rawValue))
            } catch {
                return .failure(.tookTooLong(limits.time))
            }
        }
    }

    /// Checks the store. Called once: a process checks one.
    func run(on path: FilePath, against claims: StoreClaims) async throws -> CheckReport {
        do {
            try await ask(CheckRequest(file: path.lastName, claims: claims, limits: limits))
        } catch {
            await end()
            throw error
        }
        let ending = await Self.ending(of: process, within: limits.time + Self.grace)
        try Task.checkCancellation()
        let (status, output) = try ending.get()
        switch status {
        case .exited(0): return try report(output, path)
        case .exited(let status): throw StoreCheck.Flaw.checkerExited(Int32(status))
        case .signaled(let signal):
            // The process ends by a signal at its own limit of time, and after `process.cancel()`.
            guard !process.isCancelled, !PlatformCalls.isTimeLimitSignal(Int32(signal)) else {
                throw StoreCheck.Flaw.tookTooLong(limits.time)
            }
            throw StoreCheck.Flaw.checkerSignalled(Int32(signal))
        }
    }

    /// How long a process that was killed may take to be gone. Where descriptors or processes have run out, Subprocess may never tell.
    private static let farewell = Duration.seconds(3)

    private static func ending(of process: Task<Ending, Never>, within time: Duration) async -> Ending {
        let (endings, continuation) = AsyncStream<Ending>.makeStream()
        @Sendable func stop(after time: Duration) async throws {
            try await Task.sleep(for: time)
            process.cancel()
            try await Task.sleep(for: farewell)
            continuation.yield(.failure(.checkerNotStarted(Errno.resourceTemporarilyUnavailable.rawValue)))
        }
        Task { continuation.yield(await process.value) }
        let alarm = Task { try await stop(after: time) }
        defer { alarm.cancel() }
        // This task may have been cancelled, and waits all the same.
        let waiting = Task { await endings.first { _ in true } }
        let ending = await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            process.cancel()
            Task { try await stop(after: .zero) }
        }
        return ending ?? .failure(.checkerSaidNonsense)
    }

    private func ask(_ request: CheckRequest) async throws {
        do {
            let bytes = try JSONEncoder().encode(request)
            guard bytes.count <= CheckRequest.mostBytes else { throw Errno.messageTooLong }
            try await input.get().send(Array(bytes), within: Self.grace)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw StoreCheck.Flaw.checkerNotStarted((error as? Errno ?? .ioError).rawValue)
        }
    }

    private func report(_ answer: [UInt8], _ path: FilePath) throws(StoreCheck.Flaw) -> CheckReport {
        guard let verdict = try? JSONDecoder().decode(CheckVerdict.self, from: Data(answer)) else {
            throw .checkerSaidNonsense
        }
        switch verdict {
        case .sound(let report): return report
        case .header: throw .header
        case .unsound(let complaint): throw .unsound(Self.shortened(complaint))
        case .contradictsManifest(let member): throw .contradictsManifest(Self.shortened(member))
        case .tookTooLong: throw .tookTooLong(limits.time)
        case .tookTooMuchMemory: throw .tookTooMuchMemory(limits.memory)
        case .unreadable(let code, let message): throw .unreadable(code: code, message: Self.shortened(message))
        case .file(let errno): throw .file(FileError(.read, path, Errno(rawValue: errno)))
        }
    }

    private static func shortened(_ text: ForeignText) -> ForeignText {
        ForeignText(String(decoding: text.unescaped.utf8.prefix(textLimit), as: UTF8.self))
    }
}

/// The standard input of a process that gets one message, some time after its start. The input ends after that message, or when this
/// value is released.
private final class CheckerInput: Sendable {
    /// Kept open: without any reader, a write to a child that has ended would end this process too, by SIGPIPE.
    private let read: FileDescriptor
    private let write: Mutex<FileDescriptor?>

    init() throws(Errno) {
        let (read, write) = try PlatformCalls.pipe()
        self.read = read
        self.write = Mutex(write)
    }

    deinit {
        endInput()
        try? read.close()
    }

    private func endInput() {
        write.withLock { write in
            try? write?.close()
            write = nil
        }
    }

    /// A duplicate of the reading end, for the child.
    func childEnd() throws(Errno) -> FileDescriptor {
        do throws(FileError) {
            return try PlatformCalls.duplicate(read, "")
        } catch {
            throw error.errno
        }
    }

    /// How long to wait before writing to a full pipe again.
    private static let pause = Duration.milliseconds(2)

    /// Writes a message, and ends the input.
    ///
    /// - Throws: `Errno`, `CancellationError`.
    func send(_ bytes: [UInt8], within time: Duration) async throws {
        defer { endInput() }
        guard let write = write.withLock({ $0 }), let flags = PlatformCalls.statusFlags(of: write) else { return }
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
