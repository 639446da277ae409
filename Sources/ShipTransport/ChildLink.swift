import NIOCore
import NIOPosix
import ShipLinks
import ShipProtocol
import StoreFiles
import Subprocess
import Synchronization
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A link over a child's standard input and output. The child's standard error is this process's.
struct ChildLink: LinkReader, LinkWriter {
    private static let shell: FilePath = "/bin/sh"
    /// How long the child may take to end after SIGTERM, before SIGKILL.
    private static let terminationTime = Duration.seconds(1)

    private let exit = ChildExit()
    private let input: LinkChannel
    private let output: ChannelOutput
    private let channels: [any Channel]
    /// The child's ends of the two pipes.
    private let childInput: FileDescriptor
    private let childOutput: FileDescriptor

    /// Runs `body` with the link to the child, which does not outlive it.
    static nonisolated(nonsending) func use<Result>(
        _ command: String, _ options: LinkOptions,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        let child = try await ChildLink(options)
        let running = Task { await child.run(command) }
        let opened = OpenLink(
            link: PeerLink(direction: .twoWay, reader: child, writer: child, peer: .at(.command(command))),
            channels: child.channels, input: child.input, output: child.output, lingerTime: options.lingerTime)
        do {
            let result = try await opened.use(body)
            // It gets its time to end before it is cancelled. Its work is done: its status does not matter.
            _ = try? await child.exit.status(within: options.childExitTime)
            await child.stop(running)
            return result
        } catch {
            await child.stop(running)
            throw error
        }
    }

    /// Makes two pipes: one end of each for the child, the others for the event loop.
    private init(_ options: LinkOptions) async throws(LinkError) {
        let toChild = try Self.pipe()
        let fromChild: (read: FileDescriptor, write: FileDescriptor)
        do throws(LinkError) {
            fromChild = try Self.pipe()
        } catch {
            for end in [toChild.read, toChild.write] { try? end.close() }
            throw error
        }
        // Taking over a pipe's end fails only without memory.
        input = try await LinkChannel.takingOver(fromChild.read) { $0.takingOwnershipOfDescriptor(input: $1) }
        let writing = try await LinkChannel.takingOver(toChild.write) { $0.takingOwnershipOfDescriptor(output: $1) }
        output = ChannelOutput(writing.channel, closing: .all, finishLimit: options.lingerTime)
        channels = [input.channel, writing.channel]
        (childInput, childOutput) = (toChild.read, fromChild.write)
    }

    /// Stops the child, and waits until it is gone; but not for ever, as Subprocess may not tell where descriptors have run out.
    private func stop(_ running: Task<Void, Never>) async {
        running.cancel()
        let exit = exit
        await Task { _ = try? await exit.status(within: Self.terminationTime * 2) }.value
    }

    private static func pipe() throws(LinkError) -> (read: FileDescriptor, write: FileDescriptor) {
        do throws(Errno) {
            return try PlatformCalls.pipe()
        } catch {
            throw .io(error)
        }
    }

    private func run(_ command: String) async {
        var platform = PlatformOptions()
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: Self.terminationTime)]
        if !Self.hasTerminal {
            // In a process group of its own, the shell's children are stopped with it. On a terminal they must stay in the
            // terminal's group, or ssh could not ask for a password; there they end when their streams do.
            platform.processGroupID = 0
            platform.teardownSequence = [
                .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.terminationTime)
            ]
        }
        do {
            let result = try await Subprocess.run(
                .path(Self.shell), arguments: ["-c", command], platformOptions: platform,
                input: .fileDescriptor(childInput, closeAfterSpawningProcess: true),
                output: .fileDescriptor(childOutput, closeAfterSpawningProcess: true),
                error: .currentStandardError)
            switch result.terminationStatus {
            case .exited(let code): exit.set(.success(.exited(code: code)))
            case .signaled(let signal): exit.set(.success(.signalled(signal)))
            }
        } catch let error as SubprocessError {
            exit.set(.failure(.childNotStarted(error.underlyingError ?? .ioError)))
        } catch {
            exit.set(.failure(.cancelled))
        }
    }

    private static var hasTerminal: Bool {
        guard let terminal = try? FileDescriptor.open("/dev/tty", .readWrite, options: .closeOnExec) else {
            return false
        }
        try? terminal.close()
        return true
    }

    // MARK: The child's streams, whose end is an error if the child failed

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        if let piece = try await input.next(within: limit) { return piece }
        try await exit.checkForFailure()
        return nil
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do throws(LinkError) {
            try await output.write(bytes, within: limit)
        } catch .closedByPeer {
            try await exit.checkForFailure()
            throw .closedByPeer
        }
    }

    func finish() async throws(LinkError) { try await output.finish() }
}

/// How a child ended, for every task that waits for it.
private final class ChildExit: Sendable {
    typealias Outcome = Result<ChildStatus, LinkError>

    private let state = Mutex((outcome: Outcome?.none, waiting: [AwaitedAnswer<ChildStatus>]()))

    func set(_ outcome: Outcome) {
        let waiting = state.withLock { state -> [AwaitedAnswer<ChildStatus>] in
            guard state.outcome == nil else { return [] }
            defer { state = (outcome, []) }
            return state.waiting
        }
        for answer in waiting { answer.give(outcome) }
    }

    /// - Throws: `.childNotStarted`, `.cancelled`, or `.timedOut` if the child runs for longer.
    func status(within limit: Duration) async throws(LinkError) -> ChildStatus {
        try await AwaitedAnswer.wait(within: limit, or: .timedOut(.reading)) { answer in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting.append(answer) }
                return state.outcome
            }
            if let outcome { answer.give(outcome) }
        }
    }

    /// How long after its streams a child may end.
    private static let graceTime = Duration.seconds(1)

    /// - Throws: `.childFailed` or `.childNotStarted` if that is why the child's streams ended.
    func checkForFailure() async throws(LinkError) {
        do throws(LinkError) {
            let status = try await status(within: Self.graceTime)
            guard status == .exited(code: 0) else { throw LinkError.childFailed(status) }
        } catch .timedOut {
            // The child closed its streams and goes on.
        }
    }
}
