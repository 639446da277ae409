import DeviceTrust
import NIOCore
import NIOPosix
import ShipLinks

/// Accepts links on a TCP address or a Unix socket: yields connections once their devices are known, as many at a time as are
/// allowed. The others wait.
///
/// The security of a connection is decided when it comes (`LinkOptions.securityOfEach`). NIO waits after errors of accept(2), such as
/// too many open files (`AcceptBackoffHandler`).
package struct Listener: Sendable {
    /// Connections of admitted devices; it ends when the listening socket is closed.
    let connections: AsyncStream<LinkChannel>

    /// On the event loop, the same one for the listening socket and the accepted ones.
    private struct State {
        /// Every connection that is open.
        var open: [ObjectIdentifier: any Channel] = [:]
        /// How many of them have no security yet.
        var undecided = 0
        /// Those that are in their handshake, or may only pair.
        var handshakes: PendingHandshakes
        /// Those that have been yielded, or wait for a place.
        var places: SharedPlaces<ObjectIdentifier>
        var waiting: [ObjectIdentifier: LinkChannel] = [:]
        /// Whether a handler has ended the listener.
        var isDone = false
    }

    /// Most connections whose security is being decided at a time; one decision takes as long as reading a file.
    private static let mostUndecided = 16

    private let continuation: AsyncStream<LinkChannel>.Continuation
    private let options: LinkOptions
    private let kind: LinkChannel.Kind
    private let endpoint: Endpoint
    private let state: NIOLoopBoundBox<State>
    private let eventLoop: any EventLoop
    private let onTurnedAway: @Sendable (Endpoint, LinkError) -> Void

    init(
        _ kind: LinkChannel.Kind, at endpoint: Endpoint, _ options: LinkOptions,
        _ onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void
    ) {
        self.kind = kind
        self.endpoint = endpoint
        self.options = options
        eventLoop = MultiThreadedEventLoopGroup.forLinks.next()
        self.onTurnedAway = onTurnedAway
        let handshakes = PendingHandshakes(limit: options.maximumHandshakes)
        let places = SharedPlaces<ObjectIdentifier>(options.maximumConnections, waitingLimit: options.maximumHandshakes)
        state = .makeBoxSendingValue(State(handshakes: handshakes, places: places), eventLoop: eventLoop)
        (connections, continuation) = AsyncStream.makeStream()
    }

    /// The bootstrap that listens and accepts.
    func bootstrap() -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { accept($0) }
        guard kind == .tcp else { return bootstrap }
        // An accepted socket inherits the size, in time for TCP's handshake to announce it.
        return
            bootstrap
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: .init(LinkChannel.socketBufferSize))
    }

    /// Ends `connections` when the listening socket is closed.
    func follow(_ listening: any Channel) {
        listening.closeFuture.whenComplete { _ in continuation.finish() }
    }

    // MARK: Security

    private func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        state.value.open[id] = channel
        channel.closeFuture.whenComplete { _ in
            state.value.open[id] = nil
            state.value.waiting[id] = nil
            state.value.places.stopWaiting(id)
            state.value.handshakes.remove(channel)
            acceptAsAllowed(channel.parent)
        }
        guard kind == .tcp, let choice = options.securityOfEach else {
            return eventLoop.makeCompletedFuture { try begin(channel, options.security) }
        }
        state.value.undecided += 1
        acceptAsAllowed(channel.parent)
        let peer = channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint
        return NIOThreadPool.forLinks.runIfActive(eventLoop: eventLoop) { try choice(peer) }
            .always { _ in
                state.value.undecided -= 1
                acceptAsAllowed(channel.parent)
            }
            .flatMapThrowing { try begin(channel, $0) }
    }

    private func begin(_ channel: any Channel, _ security: LinkSecurity) throws {
        if kind == .tcp, security.isPlain, channel.localAddress?.isLoopback != true {
            throw LinkError.notLoopback(endpoint)
        }
        let prepared = try LinkChannel(preparing: channel, kind, isAccepted: true, security)
        if let handshake = prepared.handshake { return awaitHandshake(handshake, of: prepared) }
        prepared.whenActive {
            switch kind {
            case .tcp, .pipe: enqueue(prepared)
            case .unix: enqueueIfOurs(prepared)
            }
        }
    }

    // MARK: Identity

    private func awaitHandshake(_ handshake: EventLoopFuture<HandshakeHandler.Peer>, of prepared: LinkChannel) {
        let channel = prepared.channel
        if let oldest = state.value.handshakes.add(channel) { Self.drop(oldest) }
        let timer = eventLoop.scheduleTask(in: TimeAmount(clamping: options.handshakeTimeout)) {
            Self.drop(channel)
        }
        handshake.whenComplete { result in
            timer.cancel()
            switch result {
            case .success(let peer):
                var connection = prepared
                connection.device = peer.device
                guard peer.admittance == .full else {
                    // It takes no place, and still counts as a pending handshake.
                    continuation.yield(connection)
                    return
                }
                state.value.handshakes.remove(channel)
                enqueue(connection)
            case .failure(let error):
                state.value.handshakes.remove(channel)
                turnAway(channel, LinkError(onOpenLink: error))
            }
        }
    }

    /// Closes a connection at once, without TLS's close_notify, which would wait for a silent peer.
    private static func drop(_ channel: any Channel) {
        let nearest = try? channel.pipeline.syncOperations.context(handlerType: GracefulCloseHandler.self)
        nearest?.close(mode: .all, promise: nil)
    }

    private func enqueueIfOurs(_ prepared: LinkChannel) {
        prepared.channel.checkUnixPeer().whenComplete { result in
            switch result {
            case .success: enqueue(prepared)
            case .failure(let error): turnAway(prepared.channel, LinkError(onOpenLink: error))
            }
        }
    }

    /// Closes a connection, and reports it unless the peer has closed it itself.
    private func turnAway(_ channel: any Channel, _ error: LinkError) {
        if error != .closedByPeer {
            onTurnedAway(channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint, error)
        }
        channel.close(promise: nil)
    }

    // MARK: Places

    /// Yields a connection as soon as there is a place for it.
    private func enqueue(_ connection: LinkChannel) {
        let channel = connection.channel
        guard channel.isActive else { return }
        let id = ObjectIdentifier(channel)
        state.value.waiting[id] = connection
        if let surplus = state.value.places.arrive(id, of: connection.device),
            let connection = state.value.waiting.removeValue(forKey: surplus)
        {
            Self.drop(connection.channel)
        }
        giveNextPlaces(channel.parent)
    }

    /// A yielded connection is over; the last one ends the listener.
    func isDone(with connection: LinkChannel, isLast: Bool) {
        let channel = connection.channel
        eventLoop.execute {
            if isLast { state.value.isDone = true }
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

    /// While a connection of an unknown device waits here, further connections wait in the system's queue.
    private func acceptAsAllowed(_ listening: (any Channel)?) {
        let mayAccept = !state.value.places.unknownWaits && state.value.undecided < Self.mostUndecided
        try? listening?.syncOptions?.setOption(.autoRead, value: mayAccept)
    }

    /// Closes the connections that are still open.
    ///
    /// - Returns: Whether a handler has ended the listener.
    func closeConnections() async -> Bool {
        let isDone = try? await eventLoop.submit { [state] in
            for channel in state.value.open.values { channel.close(promise: nil) }
            return state.value.isDone
        }.get()
        return isDone ?? false
    }
}
