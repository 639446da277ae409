import FoundationEssentials
import StoreFiles
import StoreServing
import Subprocess
import SystemPackage

/// The outside of a process that checks one store: starts it, waits for its verdict, and ends it when its time is over.
struct CheckerChild {
    let program: FilePath
    let limits: CheckLimits

    /// How long starting it and hearing its last word may take, beside the check itself.
    private static let grace = Duration.seconds(3)
    /// Nothing is inherited. A crash is not worth the time that a backtrace takes, and one arena of memory is enough.
    private static let environment: Environment = .custom(["SWIFT_BACKTRACE": "enable=no", "MALLOC_ARENA_MAX": "1"])
    /// Longest words of a verdict that are handed on, in bytes.
    private static let longestWords = 1024

    private enum Ending {
        case over(TerminationStatus, [UInt8])
        case notStarted(Int32)
        case saidTooMuch
        case timeIsOver
    }

    /// - Throws: `StoreCheck.Flaw`, `CancellationError`.
    func run(on path: FilePath, against claims: StoreClaims) async throws -> CheckReport {
        let request = CheckRequest(file: path.lastComponent?.string ?? "", claims: claims, limits: limits)
        let ending = await ending(
            in: path.removingLastComponent(), try Self.pipe(holding: JSONEncoder().encode(request)))
        try Task.checkCancellation()
        switch ending {
        case .timeIsOver: throw StoreCheck.Flaw.tookTooLong(limits.time)
        case .notStarted(let errno): throw StoreCheck.Flaw.checkerFailed(.notStarted(errno))
        case .saidTooMuch: throw StoreCheck.Flaw.checkerFailed(.saidNonsense)
        case .over(.exited(0), let answer): return try report(answer, path)
        case .over(.exited(let status), _): throw StoreCheck.Flaw.checkerFailed(.exited(Int32(status)))
        case .over(.signaled(let signal), _):
            // Its own limit of time, and the alarm behind that.
            guard !PlatformCalls.isTimeLimitSignal(Int32(signal)) else {
                throw StoreCheck.Flaw.tookTooLong(limits.time)
            }
            throw StoreCheck.Flaw.checkerFailed(.signalled(Int32(signal)))
        }
    }

    /// A pipe with all in it already: writing to a child that has ended would end this process too, by SIGPIPE.
    ///
    /// - Returns: The end from which it is read.
    private static func pipe(holding bytes: Data) throws(StoreCheck.Flaw) -> FileDescriptor {
        do {
            guard bytes.count <= CheckRequest.mostBytes else { throw Errno.messageTooLong }
            let (read, write) = try PlatformCalls.pipe()
            defer { try? write.close() }
            try write.writeAll(bytes)
            return read
        } catch {
            throw .checkerFailed(.notStarted((error as? Errno ?? .ioError).rawValue))
        }
    }

    private func ending(in folder: FilePath, _ input: FileDescriptor) async -> Ending {
        await withTaskGroup(of: Ending.self) { group in
            group.addTask {
                do {
                    var platform = PlatformOptions()
                    // Whatever it does: it is killed at once.
                    platform.teardownSequence = []
                    let result = try await Subprocess.run(
                        .path(program), arguments: [CheckerProcess.command], environment: Self.environment,
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
            group.addTask {
                try? await Task.sleep(for: limits.time + Self.grace)
                return .timeIsOver
            }
            let first = await group.next() ?? .timeIsOver
            group.cancelAll()
            return first
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

    private static func words(_ text: String) -> String {
        String(decoding: text.utf8.prefix(longestWords), as: UTF8.self)
    }
}
