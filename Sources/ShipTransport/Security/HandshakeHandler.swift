import DeviceTrust
import NIOCore
import NIOSSL
import NIOTLS
import ShipLinks

/// Right behind the TLS handler: tells how the handshake ended, and says in our own words what is wrong with the link
/// then and later.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// With the device at the other end, once it is known and has proven to have its key.
    let done: EventLoopPromise<AdmittedPeer>

    /// Called on the event loop, before `done` is kept.
    var whenPeerIsKnown: () -> Void = {}

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
            switch verification.verdict {
            case .admitted(let peer):
                whenPeerIsKnown()
                done.succeed(peer)
            case .none, .underWay, .stranger:
                // A handshake without a certificate, as with a ticket, has no business here.
                done.fail(LinkError.noCertificate)
                context.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let error = LinkError(onSecureLink: error, verification.verdict, own)
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
        done.fail(error)
    }
}

/// In front of a link that does not speak TLS: says so when the other side does, instead of taking its first record for
/// garbage.
final class PlainLinkGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A record that is an alert or a handshake, of any version [RFC 8446 section 5.1].
    private static let recordTypes: Set<UInt8> = [21, 22]
    private static let majorVersion: UInt8 = 3

    private var isFirst = true
    private var isGarbled = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        let start = bytes.readableBytesView.prefix(2)
        if isFirst, let type = start.first, Self.recordTypes.contains(type),
            start.dropFirst().first == Self.majorVersion
        {
            isGarbled = true
            context.fireErrorCaught(LinkError.onlyTLSThere)
        }
        isFirst = false
        if !isGarbled { context.fireChannelRead(data) }
    }
}
