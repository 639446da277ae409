import DeviceTrust
import NIOCore
import NIOPosix

/// Accepts connections and hands them on once it is known who is there, as many at a time as are allowed: the others wait
/// in the system's queue.
///
/// Errors of accept(2), too many open files among them, are NIO's to wait out (`AcceptBackoffHandler`).
struct Acceptor: Sendable {
    /// A connection of somebody who may have one.
    struct Connection: Sendable {
        let channel: LinkChannel
        let device: DeviceIdentifier?
    }

    /// Accepted connections; it ends when the listening socket is closed.
    let connections: AsyncStream<Connection>

    /// On the event loop, of which there is one for the listening socket and the accepted ones.
    private struct State {
        /// Every connection that is open.
        var open: [ObjectIdentifier: any Channel] = [:]
        /// Those of them that are in their handshake.
        var unknown: UnknownConnections
        /// Those that have been handed on, or will be without being asked.
        var known: Set<ObjectIdentifier> = []
    }

    private let continuation: AsyncStream<Connection>.Continuation
    private let options: LinkOptions
    private let kind: LinkChannel.Kind
    private let endpoint: Endpoint
    private let state: NIOLoopBoundBox<State>
    private let eventLoop: any EventLoop
    private let onTurnedAway: @Sendable (Endpoint, LinkError) -> Void

    init(
        _ kind: LinkChannel.Kind, at endpoint: Endpoint, _ options: LinkOptions, on eventLoop: any EventLoop,
        _ onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void
    ) {
        self.kind = kind
        self.endpoint = endpoint
        self.options = options
        self.eventLoop = eventLoop
        self.onTurnedAway = onTurnedAway
        let unknown = UnknownConnections(
            limit: options.maximumHandshakes, limitPerAddress: options.maximumHandshakesPerAddress)
        state = .makeBoxSendingValue(State(unknown: unknown), eventLoop: eventLoop)
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
        let prepared = try LinkChannel.prepare(channel, kind, .server, options.security)
        state.value.open[ObjectIdentifier(channel)] = channel
        channel.closeFuture.whenComplete { _ in
            state.value.open[ObjectIdentifier(channel)] = nil
            state.value.known.remove(ObjectIdentifier(channel))
            state.value.unknown.remove(channel)
            acceptAsAllowed(channel.parent)
        }
        if let handshake = prepared.handshake { return awaitHandshake(handshake, prepared) }
        state.value.known.insert(ObjectIdentifier(channel))
        acceptAsAllowed(channel.parent)
        try channel.pipeline.syncOperations.addHandler(
            ActivationHandler {
                switch kind {
                case .tcp, .pipe: continuation.yield(Connection(channel: prepared, device: nil))
                case .unix: yieldIfOurs(prepared)
                }
            })
    }

    // MARK: Who is there

    private func awaitHandshake(_ handshake: EventLoopFuture<DeviceIdentifier>, _ prepared: LinkChannel) {
        let channel = prepared.channel
        if let gone = state.value.unknown.add(channel) { Self.drop(gone) }
        let timer = eventLoop.scheduleTask(in: TimeAmount(clamping: options.handshakeTimeout)) {
            Self.drop(channel)
        }
        handshake.whenComplete { result in
            timer.cancel()
            state.value.unknown.remove(channel)
            switch result {
            case .success(let device):
                state.value.known.insert(ObjectIdentifier(channel))
                acceptAsAllowed(channel.parent)
                continuation.yield(Connection(channel: prepared, device: device))
            case .failure(let error): turnAway(channel, LinkError(onOpenLink: error))
            }
        }
    }

    /// Closes a connection at once, without TLS's goodbye, for which somebody who says nothing would be waited.
    private static func drop(_ channel: any Channel) {
        let nearest = try? channel.pipeline.syncOperations.context(handlerType: LastWordHandler.self)
        nearest?.close(mode: .all, promise: nil)
    }

    private func yieldIfOurs(_ prepared: LinkChannel) {
        SocketPeer.flaw(of: prepared.channel).whenComplete { result in
            switch result {
            case .success(nil): continuation.yield(Connection(channel: prepared, device: nil))
            case .success(let flaw?): turnAway(prepared.channel, flaw)
            case .failure(let error): turnAway(prepared.channel, LinkError(onOpenLink: error))
            }
        }
    }

    /// Whoever goes by themselves has not been turned away.
    private func turnAway(_ channel: any Channel, _ error: LinkError) {
        if error != .closedByPeer {
            onTurnedAway(channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint, error)
        }
        channel.close(promise: nil)
    }

    // MARK: How many

    private func acceptAsAllowed(_ listening: (any Channel)?) {
        let isRoom = state.value.known.count < options.maximumConnections
        try? listening?.syncOptions?.setOption(.autoRead, value: isRoom)
    }

    /// Closes the connections that nobody took any more.
    func closeConnections() async {
        try? await eventLoop.submit { [state] in
            for channel in state.value.open.values { channel.close(promise: nil) }
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
