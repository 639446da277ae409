import DeviceTrust
import NIOCore
import NIOPosix
import ShipLinks

/// Accepts connections and hands them on once it is known who is there, as many at a time as are allowed: the others wait.
///
/// How a connection goes is decided when it comes (`LinkOptions.securityOfEach`). Errors of accept(2), too many open files
/// among them, are NIO's to wait out (`AcceptBackoffHandler`).
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
        /// How many of them are so new that it is not decided yet how they go.
        var undecided = 0
        /// Those that are in their handshake, or are there to pair.
        var unknown: UnknownConnections
        /// Those that have been handed on because of who they are, or wait for that.
        var places: SharedPlaces<ObjectIdentifier>
        var waiting: [ObjectIdentifier: Connection] = [:]
    }

    /// Most connections that it is being decided of at a time how they go: it takes as long as reading a file.
    private static let mostUndecided = 16

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
        let places = SharedPlaces<ObjectIdentifier>(
            options.maximumConnections, waitingLimit: options.maximumHandshakes)
        state = .makeBoxSendingValue(State(unknown: unknown, places: places), eventLoop: eventLoop)
        (connections, continuation) = AsyncStream.makeStream()
    }

    /// The bootstrap that listens and accepts.
    func bootstrap() -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { accept($0) }
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

    // MARK: How it goes

    private func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        state.value.open[id] = channel
        channel.closeFuture.whenComplete { _ in
            state.value.open[id] = nil
            state.value.waiting[id] = nil
            state.value.places.stopWaiting(id)
            state.value.unknown.remove(channel)
            acceptAsAllowed(channel.parent)
        }
        guard kind == .tcp, let choice = options.securityOfEach else {
            return eventLoop.makeCompletedFuture { try begin(channel, options.security) }
        }
        state.value.undecided += 1
        acceptAsAllowed(channel.parent)
        let peer = channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint
        return LinkThreads.blocking.runIfActive(eventLoop: eventLoop) { try choice(peer) }
            .always { _ in
                state.value.undecided -= 1
                acceptAsAllowed(channel.parent)
            }
            .flatMapThrowing { try begin(channel, $0) }
    }

    private func begin(_ channel: any Channel, _ security: LinkSecurity) throws {
        if kind == .tcp, case .plainOnLoopback = security, channel.localAddress?.isLoopback != true {
            throw LinkError.notLoopback(endpoint)
        }
        let prepared = try LinkChannel.prepare(channel, kind, .server, security)
        if let handshake = prepared.handshake { return awaitHandshake(handshake, prepared) }
        try channel.pipeline.syncOperations.addHandler(
            ActivationHandler {
                switch kind {
                case .tcp, .pipe: seat(Connection(channel: prepared, device: nil))
                case .unix: seatIfOurs(prepared)
                }
            })
    }

    // MARK: Who is there

    private func awaitHandshake(_ handshake: EventLoopFuture<AdmittedPeer>, _ prepared: LinkChannel) {
        let channel = prepared.channel
        if let gone = state.value.unknown.add(channel) { Self.drop(gone) }
        let timer = eventLoop.scheduleTask(in: TimeAmount(clamping: options.handshakeTimeout)) {
            Self.drop(channel)
        }
        handshake.whenComplete { result in
            timer.cancel()
            switch result {
            case .success(let peer):
                let connection = Connection(channel: prepared, device: peer.device)
                guard peer.admittance == .full else {
                    // It has no place, and stays among the others of whom nothing is known.
                    continuation.yield(connection)
                    return
                }
                state.value.unknown.remove(channel)
                seat(connection)
            case .failure(let error):
                state.value.unknown.remove(channel)
                turnAway(channel, LinkError(onOpenLink: error))
            }
        }
    }

    /// Closes a connection at once, without TLS's goodbye, for which somebody who says nothing would be waited.
    private static func drop(_ channel: any Channel) {
        let nearest = try? channel.pipeline.syncOperations.context(handlerType: LastWordHandler.self)
        nearest?.close(mode: .all, promise: nil)
    }

    private func seatIfOurs(_ prepared: LinkChannel) {
        SocketPeer.flaw(of: prepared.channel).whenComplete { result in
            switch result {
            case .success(nil): seat(Connection(channel: prepared, device: nil))
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

    /// Hands a connection on as soon as there is a place for it.
    private func seat(_ connection: Connection) {
        let channel = connection.channel.channel
        guard channel.isActive else { return }
        let id = ObjectIdentifier(channel)
        state.value.waiting[id] = connection
        if let gone = state.value.places.arrive(id, of: connection.device),
            let channel = state.value.waiting.removeValue(forKey: gone)?.channel.channel
        {
            Self.drop(channel)
        }
        giveNextPlaces(channel.parent)
    }

    /// A connection that was handed on has been dealt with.
    func isDone(with connection: Connection) {
        let channel = connection.channel.channel
        eventLoop.execute {
            state.value.places.leave(ObjectIdentifier(channel))
            giveNextPlaces(channel.parent)
        }
    }

    private func giveNextPlaces(_ listening: (any Channel)?) {
        while let id = state.value.places.next() {
            if let connection = state.value.waiting.removeValue(forKey: id) { continuation.yield(connection) }
        }
        acceptAsAllowed(listening)
    }

    /// Those who do not say who they are wait in the system's queue, behind the one of them that is here already.
    private func acceptAsAllowed(_ listening: (any Channel)?) {
        let isRoom = !state.value.places.unknownWaits && state.value.undecided < Self.mostUndecided
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
