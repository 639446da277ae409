import NIOCore
import NIOPosix

/// Accepts connections and hands them on, as many at a time as are allowed: the others wait in the system's queue.
///
/// Errors of accept(2), too many open files among them, are NIO's to wait out (`AcceptBackoffHandler`).
struct Acceptor: Sendable {
    /// Accepted connections; it ends when the listening socket is closed.
    let connections: AsyncStream<LinkChannel>

    private let continuation: AsyncStream<LinkChannel>.Continuation
    private let limit: Int
    private let kind: LinkChannel.Kind
    /// On the event loop, of which there is one for the listening socket and the accepted ones.
    private let open: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
    private let eventLoop: any EventLoop

    init(limit: Int, _ kind: LinkChannel.Kind, on eventLoop: any EventLoop) {
        self.limit = limit
        self.kind = kind
        self.eventLoop = eventLoop
        open = .makeBoxSendingValue([:], eventLoop: eventLoop)
        (connections, continuation) = AsyncStream.makeStream()
    }

    /// The bootstrap that listens and accepts.
    func bootstrap() -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try accept(channel) }
            }
        guard kind == .tcp else { return bootstrap }
        // An accepted socket inherits the size, in time for the handshake to announce it.
        return
            bootstrap
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: .init(LinkChannel.socketBufferSize))
    }

    /// Ends `connections` when the listening socket is closed.
    func follow(_ listening: any Channel) {
        listening.closeFuture.whenComplete { _ in continuation.finish() }
    }

    private func accept(_ channel: any Channel) throws {
        let prepared = try LinkChannel.prepare(channel, kind)
        open.value[ObjectIdentifier(channel)] = channel
        channel.closeFuture.whenComplete { _ in
            open.value[ObjectIdentifier(channel)] = nil
            acceptAsAllowed(channel.parent)
        }
        acceptAsAllowed(channel.parent)
        try channel.pipeline.syncOperations.addHandler(ActivationHandler { continuation.yield(prepared) })
    }

    private func acceptAsAllowed(_ listening: (any Channel)?) {
        try? listening?.syncOptions?.setOption(.autoRead, value: open.value.count < limit)
    }

    /// Closes the connections that nobody took any more.
    func closeConnections() async {
        try? await eventLoop.submit { [open] in
            for channel in open.value.values { channel.close(promise: nil) }
        }.get()
    }
}

/// Tells when a channel may be used: one that is given away earlier could be closed halfway before it is open.
private final class ActivationHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private let whenActive: () -> Void

    init(_ whenActive: @escaping () -> Void) {
        self.whenActive = whenActive
    }

    func channelActive(context: ChannelHandlerContext) {
        whenActive()
        context.fireChannelActive()
    }
}
