import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles

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
