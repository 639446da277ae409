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
/// bytes wait.
///
/// All of it runs on the channel's event loop. A TLS handler goes in front of it.
final class InputHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// NIO reads ahead while fewer bytes than this wait for the reader.
    static let readAhead = 2 * PeerLink.pieceSize

    private var pieces = CircularBuffer<[UInt8]>()
    private var waitingBytes = 0
    private var isReading = false
    /// Why no more bytes come: the peer's end, or the error that broke the link.
    private var end: Result<Void, LinkError>?
    /// Whether there is an `end`, for other threads. NIO reads all that is there when the peer ends, so that this is known at once.
    let hasEnded = EndMark()
    private var canWrite: Bool
    private var reader: (answer: AwaitedAnswer<[UInt8]?>, timer: Scheduled<Void>)?
    private var context: ChannelHandlerContext?

    /// Called once, when the channel is active: a channel that is used earlier could be closed before it is open.
    var whenActive: (() -> Void)?

    /// - Parameter canWrite: Whether the channel has a writing side as well.
    init(canWrite: Bool) {
        self.canWrite = canWrite
    }

    /// Why the link broke, if it did.
    var breakage: LinkError? {
        if case .failure(let error) = end { error } else { nil }
    }

    /// Gives `answer` the next piece, or the end, as soon as there is one.
    func wait(_ answer: AwaitedAnswer<[UInt8]?>, limit: TimeAmount, on eventLoop: any EventLoop) {
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
    private func serve(_ answer: AwaitedAnswer<[UInt8]?>) -> Bool {
        if let piece = pieces.first {
            // After a timeout or a cancellation the piece stays for the next call.
            if answer.give(.success(piece)) {
                pieces.removeFirst()
                waitingBytes -= piece.count
                readMore()
            }
            return true
        }
        guard let end else { return false }
        answer.give(end.map { nil })
        return true
    }

    private func readMore() {
        guard !isReading, end == nil, waitingBytes < Self.readAhead, let context else { return }
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
        // The copy lets NIO use its buffer again, which is longer than most pieces.
        let piece = Array(unwrapInboundIn(data).readableBytesView)
        guard !piece.isEmpty else { return }
        pieces.append(piece)
        waitingBytes += piece.count
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
        end(.failure(LinkError(onOpenLink: error)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        // If the writing side is closed, the end of the reading side closes the channel without another event; a reset comes
        // as an error first. If it is not closed, a write has failed.
        end(canWrite ? .failure(.closedByPeer) : .success(()))
        context.fireChannelInactive()
    }
}
