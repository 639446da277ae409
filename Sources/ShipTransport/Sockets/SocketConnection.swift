import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import SystemPackage

/// Connecting to a socket, over TCP or on this machine.
enum SocketConnection {
    /// - Throws: What `LinkError` lists under making the link.
    static func toHost(_ host: String, port: Int, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let deadline = ContinuousClock.now + options.connectTimeout
        let addresses = try await NameResolution.addresses(
            of: host, port: port, options.security, within: options.connectTimeout)
        let endpoint = Endpoint.tcp(host: host, port: port)
        let channel = try await connect(to: endpoint, .tcp, options.security, within: deadline - .now) { bootstrap in
            if let address = addresses.first, addresses.count == 1 { return bootstrap.connect(to: address) }
            let known = KnownAddresses(addresses: addresses, eventLoop: LinkThreads.eventLoops.next())
            return bootstrap.resolver(known).connect(host: host, port: port)
        }
        let peer = channel.channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint
        let device = try await channel.peerDevice(at: endpoint, within: deadline - .now)
        return channel.openLink(peer: peer, device, options)
    }

    /// How long to wait before another try to connect to a Unix socket whose queue is full.
    private static let retryTime = Duration.milliseconds(20)

    /// - Throws: What `LinkError` lists under making the link.
    static func toSocketFile(_ path: FilePath, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        try SocketFile.checkLength(of: path)
        let endpoint = Endpoint.unix(path)
        if let kind = try? PlatformCalls.statusFollowingLinks(of: path).kind, kind != .socket {
            throw .notASocket(path)
        }
        let deadline = ContinuousClock.now + options.connectTimeout
        while true {
            do throws(LinkError) {
                let channel = try await connect(to: endpoint, .unix, options.security, within: deadline - .now) {
                    $0.connect(unixDomainSocketPath: path.string)
                }
                do throws(LinkError) {
                    try await SocketPeer.checkIsOurs(channel.channel)
                } catch {
                    channel.channel.close(promise: nil)
                    throw error
                }
                return channel.openLink(peer: endpoint, nil, options)
            } catch .io(.resourceTemporarilyUnavailable) {
                // Unlike TCP, a Unix socket does not let one wait for a place in the queue without blocking.
                guard .now + retryTime < deadline else { throw .timedOutConnecting(endpoint) }
                guard (try? await Task.sleep(for: retryTime)) != nil else { throw .cancelled }
            }
        }
    }

    private static func connect(
        to endpoint: Endpoint, _ kind: LinkChannel.Kind, _ security: LinkSecurity, within limit: Duration,
        _ start: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> LinkChannel {
        let eventLoop = LinkThreads.eventLoops.next()
        let attempts = ConnectionAttempts(eventLoop)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(clamping: max(limit, .milliseconds(1))))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try attempts.add(channel, kind, security) }
            }
        do throws(LinkError) {
            return try await AwaitedAnswer.wait { answer in
                start(bootstrap).whenComplete { result in
                    answer.give(attempts.outcome(result, endpoint))
                }
            }
        } catch {
            await attempts.abandon()
            throw error
        }
    }
}

/// The sockets that one call tries, so that none stays behind when it is cancelled.
private struct ConnectionAttempts: Sendable {
    private struct State {
        var isAbandoned = false
        var channels: [LinkChannel] = []
    }

    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    func add(_ channel: any Channel, _ kind: LinkChannel.Kind, _ security: LinkSecurity) throws {
        guard !state.value.isAbandoned else { throw LinkError.cancelled }
        state.value.channels.append(try LinkChannel.prepare(channel, kind, .client, security))
    }

    /// The channel that made it.
    func outcome(_ result: Result<any Channel, any Error>, _ endpoint: Endpoint) -> Result<LinkChannel, LinkError> {
        switch result {
        case .failure(let error): return .failure(LinkError(opening: endpoint, error))
        case .success(let winner):
            let channel = state.value.channels.first { $0.channel === winner }
            return channel.map { .success($0) } ?? .failure(.cancelled)
        }
    }

    func abandon() async {
        _ = try? await eventLoop.submit { [state] in
            state.value.isAbandoned = true
            for channel in state.value.channels { channel.channel.close(promise: nil) }
            state.value.channels = []
        }.get()
    }
}
