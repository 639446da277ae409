import NIOCore
import NIOPosix
package import ShipLinks
import StoreFiles
import Synchronization
import SystemPackage

/// Accepts links on a TCP address or a Unix socket.
package enum Listener {
    /// What becomes of a listener when one of its connections has been handled.
    package enum Sequel: Hashable, Sendable {
        case goOn
        /// It ends: that link is closed in an orderly way, the others are cut off.
        case end
    }

    /// Listens until a handler says that it be enough, or the task is cancelled, and has each connection handled in a child
    /// task of its own.
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
        on endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        onListening: (Endpoint) -> Void = { _ in },
        onTurnedAway: @escaping @Sendable (Endpoint, LinkError) -> Void = { _, _ in },
        handler: @escaping @Sendable (PeerLink) async -> Sequel
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
            try await serve(acceptor, channel, bound, options, onListening, handler)
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
            try await serve(acceptor, channel, endpoint, options, onListening, handler)
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
        _ onListening: (Endpoint) -> Void, _ handler: @escaping @Sendable (PeerLink) async -> Sequel
    ) async throws(LinkError) {
        acceptor.follow(channel)
        onListening(endpoint)
        let end = ListenerEnd()
        await withDiscardingTaskGroup { group in
            for await connection in acceptor.connections {
                let peer = connection.channel.channel.remoteAddress.flatMap(Endpoint.init) ?? endpoint
                let link = connection.channel.openLink(peer: peer, connection.device, options)
                group.addTask {
                    let sequel = await handler(link.link)
                    await link.close()
                    acceptor.isDone(with: connection)
                    guard sequel == .end else { return }
                    end.hasCome.store(true, ordering: .relaxed)
                    channel.close(promise: nil)
                }
            }
            try? await channel.close()
            group.cancelAll()
        }
        await acceptor.closeConnections()
        // Only the system closes the socket under us, after an error of accept(2) that waiting does not cure.
        guard Task.isCancelled || end.hasCome.load(ordering: .relaxed) else { throw .io(.ioError) }
    }
}

/// Whether a handler has said that it be enough.
private final class ListenerEnd: Sendable {
    let hasCome = Atomic(false)
}
