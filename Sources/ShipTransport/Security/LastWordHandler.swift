import NIOCore

/// Nearest to the network, on the listener's side: sees to it that whoever is turned away hears why, and that whoever has
/// said all is heard.
///
/// A client that has shown its certificate goes on at once, and its bytes are on the way while it is judged [RFC 8446
/// section 2]. To close a socket with such bytes unread makes TCP reset the connection, which throws the alert away. So
/// only our side is closed, and what comes is thrown away for a moment.
///
/// For the same reason a client's last byte may be here before it is known who it is, which to the TLS handler would be
/// the end of the handshake: so that is held back until then.
final class LastWordHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private static let patience = TimeAmount.seconds(1)
    /// Most bytes that are thrown away.
    private static let limit = 64 * 1024

    private enum State {
        case handshaking
        /// The link is in use: it is closed as its users say.
        case known
        case lingering(Scheduled<Void>, bytesLeft: Int)
        case closed
    }

    private var state = State.handshaking
    private let verification: PeerVerification
    /// Where the end of the input is to be told, if it has been held back.
    private var postponed: ChannelHandlerContext?

    init(_ verification: PeerVerification) { self.verification = verification }

    /// The handshake has come to a good end.
    func peerIsKnown() {
        state = .known
        guard let context = postponed else { return }
        postponed = nil
        // Not while the TLS handler is at work.
        context.eventLoop.assumeIsolated().execute { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { postponed = nil }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch (state, mode) {
        case (.handshaking, .all) where context.channel.isActive:
            promise?.succeed()
            let timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
                end(context)
            }
            state = .lingering(timer, bytesLeft: Self.limit)
            context.close(mode: .output, promise: nil)
            context.read()
        case (.lingering(let timer, _), .all):
            timer.cancel()
            state = .closed
            context.close(mode: .all, promise: promise)
        case (.handshaking, _), (.known, _), (.lingering, _), (.closed, _):
            context.close(mode: mode, promise: promise)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .lingering(let timer, let left) = state else { return context.fireChannelRead(data) }
        state = .lingering(timer, bytesLeft: left - unwrapInboundIn(data).readableBytes)
        if left < unwrapInboundIn(data).readableBytes { end(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard case .lingering = state else { return context.fireChannelReadComplete() }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        switch state {
        // Also where it is judged already: the TLS handler hears of that somewhat later.
        case .handshaking where verification.verdict != .none: postponed = context
        case .lingering: end(context)
        case .handshaking, .known, .closed: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .lingering(let timer, _) = state { timer.cancel() }
        state = .closed
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .lingering = state { return end(context) }
        context.fireErrorCaught(error)
    }

    private func end(_ context: ChannelHandlerContext) {
        guard case .lingering(let timer, _) = state else { return }
        timer.cancel()
        state = .closed
        context.close(mode: .all, promise: nil)
    }
}
