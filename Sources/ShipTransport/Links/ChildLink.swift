import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import Subprocess
import Synchronization
import SystemPackage

import struct SystemPackage.FileDescriptor

/// A link over a child's standard input and output. Its standard error is ours.
enum ChildLink {
    private static let shell: FilePath = "/bin/sh"
    /// How long the child may take to end once it was asked to, before it is killed.
    private static let terminationTime = Duration.seconds(1)

    /// Runs `body` with the link to the child, which does not outlive it.
    static nonisolated(nonsending) func use<Result>(
        _ command: String, _ options: LinkOptions,
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        let exit = ChildExit()
        let pipes = try await Pipes(options)
        async let _ = run(command, pipes.childInput, pipes.childOutput, exit)
        let link = PeerLink(
            direction: .twoWay, reader: LinkReader(ChildSource(pipes.input, exit)),
            writer: LinkWriter(ChildSink(pipes.output, exit)), peer: .at(.command(command)))
        let opened = OpenLink(
            link: link, channels: pipes.channels, input: pipes.input, output: pipes.output,
            lingerTime: options.lingerTime)
        let result = try await opened.use(body)
        // Going on cancels the child, so it gets its time to end first. It has done its work already: how it ends
        // does not matter any more.
        _ = try? await exit.status(within: options.childExitTime)
        return result
    }

    private static func run(
        _ command: String, _ input: FileDescriptor, _ output: FileDescriptor, _ exit: ChildExit
    ) async {
        var platform = PlatformOptions()
        platform.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: terminationTime)]
        if !hasTerminal {
            // In a group of its own the shell's children are stopped with it. On a terminal they must stay in the
            // terminal's group, or ssh could not ask for a password; there they end when their streams do.
            platform.processGroupID = 0
            platform.teardownSequence = [
                .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: terminationTime)
            ]
        }
        do {
            let result = try await Subprocess.run(
                .path(shell), arguments: ["-c", command], platformOptions: platform,
                input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                output: .fileDescriptor(output, closeAfterSpawningProcess: true),
                error: .currentStandardError)
            exit.set(.success(ChildStatus(result.terminationStatus)))
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

    /// Two pipes: one end of each for the child, the others with the event loop.
    private struct Pipes {
        let childInput: FileDescriptor
        let childOutput: FileDescriptor
        let input: ChannelInput
        let output: ChannelOutput
        let channels: [any Channel]

        init(_ options: LinkOptions) async throws(LinkError) {
            let toChild = try Self.pipe()
            let fromChild: (read: FileDescriptor, write: FileDescriptor)
            do throws(LinkError) {
                fromChild = try Self.pipe()
            } catch {
                for end in [toChild.read, toChild.write] { try? end.close() }
                throw error
            }
            // Taking over a pipe's end does not fail but for want of memory.
            let reading = try await DescriptorLink.takeOver(fromChild.read) {
                $0.takingOwnershipOfDescriptor(input: $1)
            }
            let writing = try await DescriptorLink.takeOver(toChild.write) {
                $0.takingOwnershipOfDescriptor(output: $1)
            }
            childInput = toChild.read
            childOutput = fromChild.write
            input = reading.input
            output = ChannelOutput(writing.channel, closing: .all, finishLimit: options.lingerTime)
            channels = [reading.channel, writing.channel]
        }

        private static func pipe() throws(LinkError) -> (read: FileDescriptor, write: FileDescriptor) {
            do throws(Errno) {
                return try PlatformCalls.pipe()
            } catch {
                throw .io(error)
            }
        }
    }
}

extension ChildStatus {
    fileprivate init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .exited(code: code)
        case .signaled(let signal): self = .signalled(signal)
        }
    }
}

/// How a child ended, for whoever waits for it.
final class ChildExit: Sendable {
    typealias Outcome = Result<ChildStatus, LinkError>

    private enum State {
        case running([AwaitedAnswer<ChildStatus>])
        case ended(Outcome)
    }

    private let state = Mutex(State.running([]))

    func set(_ outcome: Outcome) {
        let waiting = state.withLock { state -> [AwaitedAnswer<ChildStatus>] in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(outcome)
            return waiting
        }
        for answer in waiting { answer.give(outcome) }
    }

    /// - Throws: `.childNotStarted`, `.cancelled`, or `.timedOut` if it runs for longer.
    func status(within limit: Duration) async throws(LinkError) -> ChildStatus {
        try await AwaitedAnswer.wait { answer in
            let ended = state.withLock { state -> Outcome? in
                switch state {
                case .ended(let outcome): return outcome
                case .running(let waiting):
                    state = .running(waiting + [answer])
                    return nil
                }
            }
            if let ended {
                answer.give(ended)
            } else {
                LinkThreads.eventLoops.next().scheduleTask(in: TimeAmount(clamping: limit)) {
                    answer.give(.failure(.timedOut(.reading)))
                }
            }
        }
    }

    /// How long the end of a child may come after that of its streams.
    private static let graceTime = Duration.seconds(1)

    /// - Throws: `.childFailed` or `.childNotStarted` if that is why the child's streams ended.
    func checkForFailure() async throws(LinkError) {
        do throws(LinkError) {
            let status = try await status(within: Self.graceTime)
            guard status == .exited(code: 0) else { throw LinkError.childFailed(status) }
        } catch .timedOut {
            // It closed its streams and goes on.
        }
    }
}

/// A child's standard output: its end is an error if the child failed.
struct ChildSource: LinkSource {
    private let input: ChannelInput
    private let exit: ChildExit

    init(_ input: ChannelInput, _ exit: ChildExit) {
        self.input = input
        self.exit = exit
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        if let piece = try await input.next(within: limit) { return piece }
        try await exit.checkForFailure()
        return nil
    }
}

/// A child's standard input.
struct ChildSink: LinkSink {
    private let output: ChannelOutput
    private let exit: ChildExit

    init(_ output: ChannelOutput, _ exit: ChildExit) {
        self.output = output
        self.exit = exit
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do throws(LinkError) {
            try await output.write(bytes, within: limit)
        } catch .closedByPeer {
            try await exit.checkForFailure()
            throw .closedByPeer
        }
    }

    func finish() async throws(LinkError) {
        try await output.finish()
    }
}
