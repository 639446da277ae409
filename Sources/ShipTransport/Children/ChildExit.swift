import NIOCore
import NIOPosix
import ShipLinks
import Synchronization

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
