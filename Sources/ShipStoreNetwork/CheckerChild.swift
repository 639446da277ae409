import EssentialFoundation
import ShipProtocol
public import ShipStore
import StoreFiles
import StoreServing
import Subprocess
public import SystemPackage

extension CheckOptions.Place {
    /// In a process of its own, which has nothing, may do nothing, and is killed when its time is over.
    ///
    /// - Parameter program: It is started with `CheckerProcess.command` as its only argument, and must then do nothing but call
    ///   `CheckerProcess.run()`.
    public static func childProcess(program: FilePath) -> Self { Self(CheckerChildren(program: program)) }
}

private struct CheckerChildren: CheckerStarter {
    let program: FilePath

    func start(_ limits: CheckLimits, in folder: FilePath) -> any StartedChecker {
        CheckerChild(program, limits, in: folder)
    }
}

/// The outside of a process that checks one store: starts it, before the store is complete, tells it which store that is,
/// waits for its verdict, and ends it when its time is over, or when nobody wants to know any more.
final class CheckerChild: StartedChecker {
    /// How long hearing its last word may take, beside the check itself.
    private static let grace = Duration.seconds(3)
    /// Nothing is inherited. A crash is not worth the time that a backtrace takes, and one arena of memory is enough.
    private static let environment: Environment = .custom(["SWIFT_BACKTRACE": "enable=no", "MALLOC_ARENA_MAX": "1"])
    /// Longest words of a verdict that are handed on, in bytes.
    private static let longestWords = 1024

    private let limits: CheckLimits
    private let input: Result<CheckerInput, Errno>
    private let process: Task<Ending, Never>

    private enum Ending {
        case over(TerminationStatus, [UInt8])
        case notStarted(Int32)
        case saidTooMuch
        case timeIsOver
    }

    /// - Parameter folder: Where it runs: that of the store.
    init(_ program: FilePath, _ limits: CheckLimits, in folder: FilePath) {
        self.limits = limits
        do throws(Errno) {
            let input = try CheckerInput()
            process = Self.start(program, in: folder, try input.childEnd())
            self.input = .success(input)
        } catch {
            input = .failure(error)
            process = Task { .notStarted(error.rawValue) }
        }
    }

    deinit { process.cancel() }

    /// Ends the process, if it still runs, and waits for its end: what starts processes must not be left in the middle of
    /// it when this program ends.
    func end() async {
        process.cancel()
        _ = await process.value
    }

    private static func start(
        _ program: FilePath, in folder: FilePath, _ input: FileDescriptor
    ) -> Task<Ending, Never> {
        Task {
            do {
                var platform = PlatformOptions()
                // Whatever it does: it is killed at once.
                platform.teardownSequence = []
                let result = try await Subprocess.run(
                    .path(program), arguments: [CheckerProcess.command], environment: environment,
                    workingDirectory: folder.isEmpty ? "." : folder, platformOptions: platform,
                    input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                    output: .bytes(limit: CheckVerdict.mostBytes), error: .discarded)
                return .over(result.terminationStatus, result.standardOutput)
            } catch let error as SubprocessError {
                return error.code == .outputLimitExceeded
                    ? .saidTooMuch
                    : .notStarted(error.underlyingError?.rawValue ?? Errno.noSuchFileOrDirectory.rawValue)
            } catch {
                return .timeIsOver
            }
        }
    }

    /// Checks the store. Called once: a process checks one.
    ///
    /// - Parameter path: The store, in the folder in which the process runs.
    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func run(on path: FilePath, against claims: StoreClaims) async throws -> CheckReport {
        do {
            try await ask(CheckRequest(file: path.lastComponent?.string ?? "", claims: claims, limits: limits))
        } catch {
            await end()
            throw error
        }
        let ending = await Self.ending(of: process, within: limits.time + Self.grace)
        try Task.checkCancellation()
        switch ending {
        case .timeIsOver: throw StoreCheck.Flaw.tookTooLong(limits.time)
        case .notStarted(let errno): throw StoreCheck.Flaw.checkerFailed(.notStarted(errno))
        case .saidTooMuch: throw StoreCheck.Flaw.checkerFailed(.saidNonsense)
        case .over(.exited(0), let answer): return try report(answer, path)
        case .over(.exited(let status), _): throw StoreCheck.Flaw.checkerFailed(.exited(Int32(status)))
        case .over(.signaled(let signal), _):
            // Its own limit of time, and the alarm behind that.
            guard !process.isCancelled, !PlatformCalls.isTimeLimitSignal(Int32(signal)) else {
                throw StoreCheck.Flaw.tookTooLong(limits.time)
            }
            throw StoreCheck.Flaw.checkerFailed(.signalled(Int32(signal)))
        }
    }

    private static func ending(of process: Task<Ending, Never>, within time: Duration) async -> Ending {
        let alarm = Task {
            try await Task.sleep(for: time)
            process.cancel()
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await process.value
        } onCancel: {
            process.cancel()
        }
    }

    /// - Throws: `.checkerFailed`, `CancellationError`.
    private func ask(_ request: CheckRequest) async throws {
        do {
            let bytes = try JSONEncoder().encode(request)
            guard bytes.count <= CheckRequest.mostBytes else { throw Errno.messageTooLong }
            try await input.get().say(Array(bytes), within: Self.grace)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw StoreCheck.Flaw.checkerFailed(.notStarted((error as? Errno ?? .ioError).rawValue))
        }
    }

    private func report(_ answer: [UInt8], _ path: FilePath) throws(StoreCheck.Flaw) -> CheckReport {
        guard let verdict = try? JSONDecoder().decode(CheckVerdict.self, from: Data(answer)) else {
            throw .checkerFailed(.saidNonsense)
        }
        switch verdict {
        case .sound(let report): return report
        case .header: throw .header
        case .unsound(let complaint): throw .unsound(Self.words(complaint))
        case .contradictsManifest(let member): throw .contradictsManifest(Self.words(member))
        case .tookTooLong: throw .tookTooLong(limits.time)
        case .tookTooMuchMemory: throw .tookTooMuchMemory(limits.memory)
        case .unreadable(let code, let message): throw .unreadable(code: code, message: Self.words(message))
        case .file(let errno): throw .file(FileError(.read, path, Errno(rawValue: errno)))
        }
    }

    private static func words(_ text: ForeignText) -> ForeignText {
        ForeignText(String(decoding: text.unescaped.utf8.prefix(longestWords), as: UTF8.self))
    }
}

/// What a checker is told, as JSON on its standard input. The store is in the folder in which it runs.
struct CheckRequest: Codable {
    /// The name of the store's file.
    let file: String
    let claims: StoreClaims
    let limits: CheckLimits

    /// Longest, in bytes: what a manifest of the longest says of tables and external files, each character escaped.
    static let mostBytes = 16 * 1024 * 1024
}

/// What a checker says, as JSON on its standard output. A store may have taken it over, so it is read with care.
enum CheckVerdict: Codable {
    case sound(CheckReport)
    case header
    case unsound(ForeignText)
    case contradictsManifest(ForeignText)
    case tookTooLong
    case tookTooMuchMemory
    case unreadable(code: Int32, message: ForeignText)
    /// The file cannot be read; errno.
    case file(Int32)

    /// Longest, in bytes.
    static let mostBytes = 16 * 1024

    init(_ flaw: StoreCheck.Flaw) {
        self =
            switch flaw {
            case .header: .header
            case .unsound(let complaint): .unsound(complaint)
            case .contradictsManifest(let member): .contradictsManifest(member)
            case .tookTooLong: .tookTooLong
            case .tookTooMuchMemory: .tookTooMuchMemory
            case .unreadable(let code, let message): .unreadable(code: code, message: message)
            case .checkerFailed: .unreadable(code: 1, message: "")
            case .file(let error): .file(error.errno.rawValue)
            }
    }
}
