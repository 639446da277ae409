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

/// From a host's name to its addresses.
enum NameResolution {
    /// Addresses of `host`, all of them on this machine if nobody is asked who they are. A numeric address is not looked up.
    ///
    /// - Throws: `.couldNotResolve`, `.notLoopback`, `.timedOutConnecting`, `.cancelled`.
    static func addresses(
        of host: String, port: Int, _ security: LinkSecurity, within limit: Duration
    ) async throws(LinkError) -> [SocketAddress] {
        let texts = try await numericAddresses(of: host, port: port, within: limit)
        let addresses = texts.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        guard !addresses.isEmpty else { throw .couldNotResolve(host: host, reason: "") }
        if case .plainOnLoopback = security, let foreign = addresses.first(where: { !$0.isLoopback }) {
            throw .notLoopback(Endpoint(foreign) ?? .tcp(host: host, port: port))
        }
        return addresses
    }

    private static func numericAddresses(
        of host: String, port: Int, within limit: Duration
    ) async throws(LinkError) -> [String] {
        if let addresses = try? PlatformCalls.addresses(of: host, .numeric) { return addresses }
        return try await AwaitedAnswer.wait { answer in
            // The resolver cannot be interrupted: after a timeout its thread goes on for a while.
            let timer = LinkThreads.eventLoops.next().scheduleTask(in: TimeAmount(clamping: limit)) {
                answer.give(.failure(.timedOutConnecting(.tcp(host: host, port: port))))
            }
            LinkThreads.blocking.submit { _ in
                do throws(ResolverError) {
                    answer.give(.success(try PlatformCalls.addresses(of: host, .name)))
                } catch {
                    answer.give(.failure(.couldNotResolve(host: host, reason: error.reason)))
                }
                timer.cancel()
            }
        }
    }
}

extension SocketAddress {
    /// Whether what is sent there stays on this machine: 127.0.0.0/8 [RFC 1122 3.2.1.3], ::1 [RFC 4291 2.5.3], or an IPv4
    /// loopback address as IPv6 writes it.
    var isLoopback: Bool {
        switch self {
        case .v4: return ipAddress?.hasPrefix("127.") == true
        case .v6: return ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") == true
        case .unixDomainSocket: return true
        }
    }
}

/// Gives NIO addresses that are known already, to try one after the other, IPv6 first [RFC 8305].
struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let eventLoop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
