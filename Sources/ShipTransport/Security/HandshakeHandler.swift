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
