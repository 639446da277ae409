import NIOCore
import NIOPosix
import StoreFiles
import SystemPackage

/// Accepts links on a TCP address or a Unix socket.
package enum Listener {
    /// How long it listens.
    package enum Persistence: Sendable {
        case untilCancelled
        /// Until one connection has come and been handled.
        case oneConnection
        /// Until it is told to stop; the connections that there are then are handled to their end.
        case untilStopped(ListenerStop)

        fileprivate var isCancelledOnly: Bool {
            switch self {
            case .untilCancelled: true
            case .oneConnection, .untilStopped: false
            }
        }
    }

    /// Listens for as long as `persistence` says, at most until the task is cancelled, and has each connection handled in
    /// a child task of its own.
    ///
    /// A name is listened on at one of its addresses, an IPv4 address if it has one. A handler that returns has its link
    /// closed in an orderly way. A connection that fails or is slow keeps no other one waiting, beyond
    /// `options.maximumConnections`.
    ///
    /// - Parameters:
    ///   - endpoint: TCP, port 0 for one that the system chooses, or a Unix socket. The file of a socket that nobody
    ///     listens on is replaced; it is there for its owner only (0600), and goes at the end.
    ///   - onListening: Told the address once connections are accepted, with its real port.
    ///   - onTurnedAway: Told who connected, and why they did not get a link.
    /// - Throws: `LinkError` when it cannot listen, or not any more; returns when cancelled.
    package nonisolated(nonsending) static func serve(
        on endpoint: Endpoint, _ options: LinkOptions = LinkOptions(), _ persistence: Persistence = .untilCancelled,
        onListening: (Endpoint) -> Void = { _ in },
        onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void = { _, _ in },
        handler: @escaping @Sendable (Link) async -> Void
    ) async throws(LinkError) {
        switch endpoint {
        case .tcp(let host, let port):
            let addresses = try await NameResolution.addresses(
                of: host, port: port, options.security, within: options.connectTimeout)
            guard let address = addresses.first(where: { $0.protocol == .inet }) ?? addresses.first else { return }
            let acceptor = Acceptor(.tcp, at: endpoint, options, on: LinkThreads.eventLoops.next(), onTurnedAway)
            let channel = try await open(Endpoint(address) ?? endpoint) {
                acceptor.bootstrap().bind(to: address)
            }
            let bound = channel.localAddress.flatMap(Endpoint.init) ?? endpoint
            try await serve(acceptor, channel, bound, options, persistence, onListening, handler)
        case .unix(let path):
            try SocketFile.checkFolderIsPrivate(path)
            try await SocketFile.checkIsFree(path)
            let provisional = try SocketFile.provisionalName(for: path)
            let acceptor = Acceptor(.unix, at: endpoint, options, on: LinkThreads.eventLoops.next(), onTurnedAway)
            let channel = try await open(endpoint) {
                acceptor.bootstrap().bind(unixDomainSocketPath: provisional.string)
            }
            let file: SocketFile
            do throws(FileError) {
                file = try SocketFile(naming: provisional, path)
            } catch {
                try? await channel.close()
                throw .file(error)
            }
            defer { file.remove() }
            try await serve(acceptor, channel, endpoint, options, persistence, onListening, handler)
        case .standardStreams, .command, .file:
            throw .io(.notSupported)
        }
    }

    private static func open(
        _ endpoint: Endpoint, _ bind: () -> EventLoopFuture<any Channel>
    ) async throws(LinkError) -> any Channel {
        do {
            return try await bind().get()
        } catch {
            throw LinkError(opening: endpoint, error)
        }
    }

    private nonisolated(nonsending) static func serve(
        _ acceptor: Acceptor, _ channel: any Channel, _ endpoint: Endpoint, _ options: LinkOptions,
        _ persistence: Persistence, _ onListening: (Endpoint) -> Void,
        _ handler: @escaping @Sendable (Link) async -> Void
    ) async throws(LinkError) {
        acceptor.follow(channel)
        if case .untilStopped(let stop) = persistence { stop.closes(channel) }
        onListening(endpoint)
        await withDiscardingTaskGroup { group in
            for await connection in acceptor.connections {
                let peer = connection.channel.channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint
                let link = connection.channel.openLink(peer: peer, connection.device, options)
                group.addTask {
                    await handler(link.link)
                    await link.close()
                }
                if case .oneConnection = persistence { break }
            }
            try? await channel.close()
            if persistence.isCancelledOnly { group.cancelAll() }
        }
        await acceptor.closeConnections()
        // Only the system closes the socket under us, after an error of accept(2) that waiting does not cure.
        guard Task.isCancelled || !persistence.isCancelledOnly else { throw .io(.ioError) }
    }
}
