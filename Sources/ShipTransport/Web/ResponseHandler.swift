import NIOCore
import NIOHTTP1
import ShipLinks
import Synchronization

/// The last handler of a connection to a web server: keeps the parts of responses until they are taken, and asks for more only when none
/// is left.
///
/// All of it runs on the channel's event loop.
final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// Whether no more parts come, for other threads.
    let hasEnded = EndMark()
    private var parts = CircularBuffer<HTTPClientResponsePart>()
    private var isReading = false
    private var end: Result<HTTPClientResponsePart?, LinkError>?
    private var waiting: (answer: AwaitedAnswer<HTTPClientResponsePart?>, timer: Scheduled<Void>)?
    private var context: ChannelHandlerContext?

    /// Gives `answer` the next part as soon as there is one, `nil` at the end of the connection.
    func wait(_ answer: AwaitedAnswer<HTTPClientResponsePart?>, limit: TimeAmount, on eventLoop: any EventLoop) {
        // One task reads at a time, so an earlier call has been cancelled.
        waiting?.timer.cancel()
        waiting?.answer.give(.failure(.cancelled))
        let timer = eventLoop.scheduleTask(in: limit) { _ = answer.give(.failure(.timedOut(.reading))) }
        waiting = (answer, timer)
        serve()
    }

    private func serve() {
        guard let (answer, timer) = waiting else { return }
        if let part = parts.popFirst() {
            answer.give(.success(part))
        } else if let end {
            answer.give(end)
        } else {
            return read()
        }
        timer.cancel()
        waiting = nil
    }

    private func read() {
        guard !isReading, let context else { return }
        isReading = true
        context.read()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.success(nil))
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        read()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parts.append(unwrapInboundIn(data))
        serve()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        // The end of a connection is noticed only by reading.
        if parts.isEmpty { read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.success(nil))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.failure(LinkError(onWeb: error)))
        context.close(promise: nil)
    }

    private func finish(_ result: Result<HTTPClientResponsePart?, LinkError>) {
        if end == nil { end = result }
        hasEnded.set()
        serve()
    }
}
