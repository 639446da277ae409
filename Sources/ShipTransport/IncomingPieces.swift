import NIOCore
import ShipLinks
import Synchronization

/// Says on any thread that a link has ended.
final class EndMark: Sendable {
    private let mark = Atomic(false)

    var isSet: Bool { mark.load(ordering: .relaxed) }
    func set() { mark.store(true, ordering: .relaxed) }
}

/// The last handler of a channel's pipeline: keeps incoming pieces until the reader takes them, and asks NIO for more only while few
/// of them wait.
///
/// All of it runs on the channel's event loop. A TLS handler goes in front of it.
final class IncomingPieces<InboundIn, Piece: Sendable>: ChannelInboundHandler {
    /// What comes as a piece, and how much it counts; `nil` for nothing.
    typealias Reading = (InboundIn) -> (piece: Piece, size: Int)?

    private let read: Reading
    /// NIO reads ahead while less than this waits for the reader.
    private let readAhead: Int
    private let explain: (any Error) -> LinkError
    /// Whether an error closes the channel.
    private let closesOnError: Bool
    private var pieces = CircularBuffer<(piece: Piece, size: Int)>()
    private var waitingSize = 0
    private var isReading = false
    /// Why no more comes: the peer's end, or the error that broke the link.
    private var end: Result<Void, LinkError>?
    /// Whether there is an `end`, for other threads. NIO reads all that is there when the peer ends, so that this is known at once.
    let hasEnded = EndMark()
    private var canWrite: Bool
    private var reader: (answer: AwaitedAnswer<Piece?>, timer: Scheduled<Void>)?
    private var context: ChannelHandlerContext?

    /// Called once, when the channel is active: a channel that is used earlier could be closed before it is open.
    var whenActive: (() -> Void)?

    /// - Parameter canWrite: Whether the channel has a writing side that may be broken when the reading side ends.
    init(
        upTo readAhead: Int, canWrite: Bool, closesOnError: Bool = false,
        explaining explain: @escaping (any Error) -> LinkError, _ read: @escaping Reading
    ) {
        (self.readAhead, self.canWrite, self.closesOnError) = (readAhead, canWrite, closesOnError)
        (self.explain, self.read) = (explain, read)
    }

    /// Why the link broke, if it did.
    var breakage: LinkError? {
        if case .failure(let error) = end { error } else { nil }
    }

    /// Gives `answer` the next piece, or the end, as soon as there is one.
    func wait(_ answer: AwaitedAnswer<Piece?>, limit: TimeAmount, on eventLoop: any EventLoop) {
        // One task reads at a time, so an earlier call has been cancelled.
        reader?.timer.cancel()
        reader?.answer.give(.failure(.cancelled))
        reader = nil
        if serve(answer) { return }
        reader = (answer, eventLoop.scheduleTask(in: limit) { answer.give(.failure(.timedOut(.reading))) })
    }

    private func serveReader() {
        guard let reader, serve(reader.answer) else { return }
        reader.timer.cancel()
        self.reader = nil
    }

    /// - Returns: Whether there was a piece or an end to give.
    private func serve(_ answer: AwaitedAnswer<Piece?>) -> Bool {
        if let (piece, size) = pieces.first {
            // After a timeout or a cancellation the piece stays for the next call.
            if answer.give(.success(piece)) {
                pieces.removeFirst()
                waitingSize -= size
                readMore()
            }
            return true
        }
        guard let end else { return false }
        answer.give(end.map { nil })
        return true
    }

    private func readMore() {
        guard !isReading, end == nil, waitingSize < readAhead, let context else { return }
        isReading = true
        context.read()
    }

    private func end(_ end: Result<Void, LinkError>) {
        if self.end == nil { self.end = end }
        hasEnded.set()
        serveReader()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { readMore() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failure(.closedByPeer))
        self.context = nil
        whenActive = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        readMore()
        // The closure may hold this handler.
        let body = whenActive.take()
        body?()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let (piece, size) = read(unwrapInboundIn(data)) else { return }
        pieces.append((piece, size))
        waitingSize += size
        serveReader()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        readMore()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed: end(.success(()))
        case .outputClosed: canWrite = false
        case nil: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.failure(explain(error)))
        if closesOnError { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // If the writing side is closed, the end of the reading side closes the channel without another event; a reset comes
        // as an error first. If it is not closed, a write has failed.
        end(canWrite ? .failure(.closedByPeer) : .success(()))
        context.fireChannelInactive()
    }
}
