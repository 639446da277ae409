import NIOCore
import ShipLinks

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
