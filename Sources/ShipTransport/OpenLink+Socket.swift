import NIOCore
import NIOPosix
import ShipLinks
import ShipProtocol
import StoreFiles
import SystemPackage

/// Links over a socket that this side connects.
extension OpenLink {
    /// - Throws: The errors that `LinkError` lists under making the link.
    static func toHost(_ host: String, port: Int, _ options: LinkOptions) async throws(LinkError) -> OpenLink {
        let deadline = ContinuousClock.now + options.connectTimeout
        let addresses = try await SocketAddress.resolve(
            host, port: port, onlyHere: options.security.isPlain, within: options.connectTimeout)
        let endpoint = Endpoint.tcp(host: host, port: port)
        var channel = try await connect(to: endpoint, .tcp, options.security, within: deadline - .now) { bootstrap in
            if let address = addresses.first, addresses.count == 1 { return bootstrap.connect(to: address) }
            return bootstrap.resolver(ResolvedAddresses(addresses: addresses)).connect(host: host, port: port)
        }
        let peer = channel.remoteEndpoint ?? endpoint
        try await channel.awaitHandshake(at: endpoint, within: deadline - .now)
        return .over(channel, to: peer, options)
    }

    /// How long to wait before connecting again to a Unix socket whose queue is full.
    private static let retryTime = Duration.milliseconds(20)

    /// - Throws: The errors that `LinkError` lists under making the link.
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
                    $0.connect(unixDomainSocketPath: path.text)
                }
                do throws(LinkError) {
                    try await AwaitedAnswer<Void>.wait { answer in
                        channel.channel.checkUnixPeer().whenComplete { result in
                            answer.give(result.mapError { LinkError(onOpenLink: $0) })
                        }
                    }
                } catch {
                    channel.channel.close(promise: nil)
                    throw error
                }
                return .over(channel, to: endpoint, options)
            } catch .io(.resourceTemporarilyUnavailable) {
                // Unlike TCP, a non-blocking Unix socket does not wait for a place in the queue.
                guard .now + retryTime < deadline else { throw .timedOutConnecting(endpoint) }
                guard (try? await Task.sleep(for: retryTime)) != nil else { throw .cancelled }
            }
        }
    }

    private static func connect(
        to endpoint: Endpoint, _ kind: LinkChannel.Kind, _ security: LinkSecurity, within limit: Duration,
        _ start: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> LinkChannel {
        try await ClientBootstrap.connect(
            to: endpoint, within: limit, preparing: { try LinkChannel(preparing: $0, kind, security) }, start)
    }
}

extension SocketAddress {
    /// The addresses of a host. A numeric address is not looked up.
    ///
    /// - Parameter isOnlyHere: Whether all of them must be on this machine.
    /// - Throws: `.couldNotResolve`, `.notLoopback`, `.timedOutConnecting`, `.cancelled`.
    static func resolve(
        _ host: String, port: Int, onlyHere isOnlyHere: Bool = false, within limit: Duration
    ) async throws(LinkError) -> [SocketAddress] {
        guard UInt16(exactly: port) != nil else { throw .couldNotResolve(host: host, reason: "\(port) is no port") }
        let texts = try await addresses(of: host, port: port, within: limit)
        let addresses = texts.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        guard !addresses.isEmpty else { throw .couldNotResolve(host: host, reason: "") }
        if isOnlyHere, let foreign = addresses.first(where: { !$0.isLoopback }) {
            throw .notLoopback(Endpoint(foreign) ?? .tcp(host: host, port: port))
        }
        return addresses
    }

    private static func addresses(
        of host: String, port: Int, within limit: Duration
    ) async throws(LinkError) -> [String] {
        if let addresses = try? PlatformCalls.addresses(of: host, mayLookUp: false) { return addresses }
        let timeout = LinkError.timedOutConnecting(.tcp(host: host, port: port))
        return try await AwaitedAnswer.wait(within: limit, or: timeout) { answer in
            // The resolver cannot be interrupted: after a timeout its thread goes on for a while.
            NIOThreadPool.forLinks.submit { _ in
                do throws(ResolverError) {
                    answer.give(.success(try PlatformCalls.addresses(of: host, mayLookUp: true)))
                } catch {
                    answer.give(.failure(.couldNotResolve(host: host, reason: error.reason)))
                }
            }
        }
    }

    /// Whether bytes that are sent there stay on this machine: 127.0.0.0/8 [RFC 1122 3.2.1.3], ::1 [RFC 4291 2.5.3], or an IPv4
    /// loopback address as IPv6 writes it.
    var isLoopback: Bool {
        switch self {
        case .v4: return ipAddress?.hasPrefix("127.") == true
        case .v6: return ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") == true
        case .unixDomainSocket: return true
        }
    }
}

extension Channel {
    /// Fails with `.otherUser` unless the process at the other end of a Unix socket, which the kernel knows, is this user's or root's;
    /// nothing is safe from root anyway.
    func checkUnixPeer() -> EventLoopFuture<Void> {
        guard let provider = self as? any SocketOptionProvider else {
            return eventLoop.makeFailedFuture(LinkError.io(.notSupported))
        }
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: PeerCredentials.level),
            name: NIOBSDSocket.Option(rawValue: PeerCredentials.option))
        return credentials.flatMapThrowing { credentials in
            let isOurs = credentials.user == PlatformCalls.effectiveUser || credentials.user == 0
            guard isOurs else { throw LinkError.otherUser(credentials.user) }
        }
    }
}
