import NIOCore
import ShipLinks
import Synchronization

/// The writing side of a channel.
final class ChannelOutput: LinkWriter {
    private let channel: any Channel
    /// It may know better than a write why the link broke, from the peer's alert.
    private let input: LinkChannel?
    private let side: CloseMode
    private let finishLimit: Duration
    private let isFinished = Atomic(false)

    /// - Parameters:
    ///   - input: The reading side, if the channel has one.
    ///   - side: `.output` if the channel has a reading side as well, `.all` if not.
    ///   - finishLimit: How long `finish` waits for the bytes of a write that timed out.
    init(_ channel: any Channel, beside input: LinkChannel? = nil, closing side: CloseMode, finishLimit: Duration) {
        self.channel = channel
        self.input = input
        self.side = side
        self.finishLimit = finishLimit
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !bytes.isEmpty else { return }
        try await AwaitedAnswer.wait { answer in
            channel.eventLoop.execute { [channel, input] in
                let progress = WriteProgress(on: channel, beside: input, limit: TimeAmount(clamping: limit), answer)
                channel.writeAndFlush(channel.allocator.buffer(bytes: bytes)).assumeIsolated().whenComplete { result in
                    progress.end(result)
                }
                progress.watch()
            }
        }
    }

    func finish() async throws(LinkError) {
        guard !isFinished.load(ordering: .relaxed) else { return }
        try await finish(within: finishLimit)
    }

    private func finish(within limit: Duration) async throws(LinkError) {
        try await AwaitedAnswer<Void>.wait { answer in
            channel.eventLoop.execute { [self] in
                let timer = channel.eventLoop.scheduleTask(in: TimeAmount(clamping: limit)) {
                    answer.give(.failure(.timedOut(.writing)))
                }
                channel.close(mode: side).whenComplete { [self] result in
                    timer.cancel()
                    if case .success = result { isFinished.store(true, ordering: .relaxed) }
                    answer.give(result.mapError(LinkError.init(onOpenLink:)))
                }
            }
        }
    }
}

/// Times a write out when the system takes none of its bytes for a while. It runs on the channel's event loop.
private final class WriteProgress {
    private let channel: any Channel
    private let input: LinkChannel?
    private let limit: TimeAmount
    private let answer: AwaitedAnswer<Void>
    private var bytesLeft = Int.max
    private var lastProgress = NIODeadline.now()
    private var hasEnded = false
    private var timer: Scheduled<Void>?

    init(on channel: any Channel, beside input: LinkChannel?, limit: TimeAmount, _ answer: AwaitedAnswer<Void>) {
        self.channel = channel
        self.input = input
        self.limit = limit
        self.answer = answer
    }

    func end(_ result: Result<Void, any Error>) {
        hasEnded = true
        timer?.cancel()
        answer.give(
            result.mapError { [input] error in
                let error = LinkError(onOpenLink: error)
                return error == .closedByPeer ? input?.breakage ?? error : error
            })
    }

    /// Looks at the progress four times within the limit, so that a timeout comes at most a quarter late.
    func watch() {
        guard !hasEnded else { return }
        timer = channel.eventLoop.assumeIsolated().scheduleTask(
            in: max(.nanoseconds(limit.nanoseconds / 4), .milliseconds(1))
        ) { [self] in
            look()
        }
    }

    private func look() {
        let left = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if left < bytesLeft {
            bytesLeft = left
            lastProgress = .now()
        }
        if .now() - lastProgress >= limit {
            answer.give(.failure(.timedOut(.writing)))
        } else {
            watch()
        }
    }
}
