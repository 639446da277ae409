import DeviceTrust
import NIOCore
import NIOSSL
import NIOTLS
import ShipLinks

/// Right behind the TLS handler: reports how the handshake ended, and makes each error of the link a `LinkError`.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    /// The device at the other end, which has proven that it has its key.
    typealias Peer = (device: DeviceIdentifier, admittance: LinkSecurity.Admittance)

    let done: EventLoopPromise<Peer>

    /// Called on the event loop, before `done` succeeds.
    var whenSucceeded: () -> Void = {}

    private let own: DeviceIdentifier
    private let verification: PeerVerification
    private var isOver = false

    init(_ own: DeviceIdentifier, _ verification: PeerVerification, on eventLoop: any EventLoop) {
        self.own = own
        self.verification = verification
        done = eventLoop.makePromise()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent, !isOver {
            isOver = true
            if case (let device, let admittance?)? = verification.verdict, admittance != .refused {
                whenSucceeded()
                done.succeed((device, admittance))
            } else {
                // A handshake without a certificate, such as one with a ticket, is not allowed.
                done.fail(LinkError.noCertificate)
                context.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let error = LinkError(onSecureLink: error, verification, own)
        end(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.closedByPeer)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end(.closedByPeer) }

    private func end(_ error: LinkError) {
        guard !isOver else { return }
        isOver = true
        done.fail(verification.failure ?? error)
    }
}

/// First in the pipeline of an accepted connection, in front of TLS: lets a client that is turned away read why, and reads what a
/// client has sent before it closed its side.
///
/// A client that has shown its certificate goes on at once, so its bytes arrive while the listener still verifies that certificate
/// [RFC 8446 section 2]. Closing a socket with unread bytes makes TCP reset the connection, which discards the alert. So this handler
/// closes only the listener's side, and discards incoming bytes for a moment.
///
/// For the same reason a client may have closed its side before the listener knows which device it is. The TLS handler would take
/// that for the end of the handshake, so this handler holds the event back until the handshake is done.
final class GracefulCloseHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private static let lingerTime = TimeAmount.seconds(1)
    /// Most bytes that are discarded.
    private static let limit = 64 * 1024

    private enum State {
        case handshaking
        /// The link is in use; its users close it.
        case established
        case lingering(Scheduled<Void>, bytesLeft: Int)
        case closed
    }

    private var state = State.handshaking
    private let verification: PeerVerification
    /// Where to fire the end of the input, if it is held back.
    private var heldBack: ChannelHandlerContext?

    init(_ verification: PeerVerification) { self.verification = verification }

    func handshakeSucceeded() {
        state = .established
        guard let context = heldBack else { return }
        heldBack = nil
        // Later, because the TLS handler is on the call stack now.
        context.eventLoop.assumeIsolated().execute { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { heldBack = nil }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch (state, mode) {
        case (.handshaking, .all) where context.channel.isActive:
            promise?.succeed()
            let timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { [self] in
                end(context)
            }
            state = .lingering(timer, bytesLeft: Self.limit)
            context.close(mode: .output, promise: nil)
            context.read()
        case (.lingering(let timer, _), .all):
            timer.cancel()
            state = .closed
            context.close(mode: .all, promise: promise)
        case (.handshaking, _), (.established, _), (.lingering, _), (.closed, _):
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
        // Also when there is a verdict already: the TLS handler learns of it somewhat later.
        case .handshaking where verification.verdict != nil: heldBack = context
        case .lingering: end(context)
        case .handshaking, .established, .closed: context.fireUserInboundEventTriggered(event)
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

/// First on a link without TLS: reports a peer that speaks TLS, instead of passing on its first record as garbage.
final class PlaintextGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A record that is an alert or a handshake, of any version [RFC 8446 section 5.1].
    private static let recordTypes: Set<UInt8> = [21, 22]
    private static let majorVersion: UInt8 = 3

    private var isFirst = true
    private var isTLS = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        let start = bytes.readableBytesView.prefix(2)
        if isFirst, let type = start.first, Self.recordTypes.contains(type),
            start.dropFirst().first == Self.majorVersion
        {
            isTLS = true
            context.fireErrorCaught(LinkError.onlyTLSThere)
        }
        isFirst = false
        if !isTLS { context.fireChannelRead(data) }
    }
}
