import NIOCore
import ShipLinks

/// The end of a channel's pipeline: it keeps what has come in until the reader takes it, and asks for more only while
/// little is waiting.
///
/// Everything happens on the channel's event loop. A TLS handler goes in front of it.
final class InputHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// So many bytes are read ahead of the reader, and the rest of the last piece.
    static let readAhead = 2 * LinkReader.pieceSize

    private enum End {
        case ended
        case broken(LinkError)
    }

    private struct Waiting {
        let answer: AwaitedAnswer<[UInt8]?>
        let timer: Scheduled<Void>
    }

    private var pieces = CircularBuffer<[UInt8]>()
    private var waitingBytes = 0
    private var isReading = false
    private var end: End?
    private var canWrite: Bool
    private var waiting: Waiting?
    private var context: ChannelHandlerContext?

    /// - Parameter canWrite: Whether the channel has a writing side as well.
    init(canWrite: Bool) {
        self.canWrite = canWrite
    }

    /// Why the link broke, if it did.
    var breakage: LinkError? {
        if case .broken(let error) = end { error } else { nil }
    }

    /// Has `answer` given the next piece, or the end.
    func wait(_ answer: AwaitedAnswer<[UInt8]?>, limit: TimeAmount, on eventLoop: any EventLoop) {
        // Whoever waited before has been cancelled: one task reads at a time.
        waiting?.timer.cancel()
        waiting?.answer.give(.failure(.cancelled))
        waiting = nil
        if serve(answer) { return }
        waiting = Waiting(
            answer: answer,
            timer: eventLoop.scheduleTask(in: limit) { answer.give(.failure(.timedOut(.reading))) })
    }

    private func serveWaiting() {
        guard let waiting, serve(waiting.answer) else { return }
        waiting.timer.cancel()
        self.waiting = nil
    }

    /// - Returns: Whether there was anything to say.
    private func serve(_ answer: AwaitedAnswer<[UInt8]?>) -> Bool {
        if let piece = pieces.first {
            // An answer that came too late, after a timeout or a cancellation, is kept for the next call.
            if answer.give(.success(piece)) {
                pieces.removeFirst()
                waitingBytes -= piece.count
                readMore()
            }
            return true
        }
        switch end {
        case .ended: answer.give(.success(nil))
        case .broken(let error): answer.give(.failure(error))
        case nil: return false
        }
        return true
    }

    private func readMore() {
        guard !isReading, end == nil, waitingBytes < Self.readAhead, let context else { return }
        isReading = true
        context.read()
    }

    private func end(_ end: End) {
        if self.end == nil { self.end = end }
        serveWaiting()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { readMore() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.broken(.closedByPeer))
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        readMore()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The copy lets NIO use its buffer again, which is longer than most pieces.
        let piece = Array(unwrapInboundIn(data).readableBytesView)
        guard !piece.isEmpty else { return }
        pieces.append(piece)
        waitingBytes += piece.count
        serveWaiting()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        readMore()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed: end(.ended)
        case .outputClosed: canWrite = false
        case nil: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.broken(LinkError(onOpenLink: error)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Where the writing side has been closed, the end of the reading side closes the channel without more words; a
        // reset comes as an error first. Where it has not, a write has failed.
        end(canWrite ? .broken(.closedByPeer) : .ended)
        context.fireChannelInactive()
    }
}
