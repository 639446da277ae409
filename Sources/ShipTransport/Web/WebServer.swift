import NIOCore
import NIOHTTP1
import NIOPosix
package import ShipLinks
import StoreFiles

/// A small web server beside other work: it answers GET and HEAD, one request a connection.
///
/// Whatever comes over a connection, or does not, it is closed after `deadline`, and no more than 16 KiB of it are looked at. For one connection
/// more than 16, or fewer where descriptors are few, the oldest is closed, so that those who dawdle keep nobody out. The thread is not that of the links, which so
/// never wait for it.
package enum WebServer {
    package enum Reach: Sendable { case thisMachine, anyone }

    private static let mostConnections = 16
    /// Descriptors that are left to the links, and to what checks stores.
    private static let leftToLinks = 32
    static let deadline = TimeAmount.seconds(5)

    /// Answers as long as `body` runs.
    ///
    /// - Parameters:
    ///   - host: An address, or a name, which browsers may call it by then. Of several addresses it takes the first, an IPv4 address if there
    ///     is one.
    ///   - port: 0 for one that the system chooses.
    ///   - reach: With `.thisMachine`, all addresses of the host have to be loopback addresses.
    ///   - body: Gets the address, and its real port.
    /// - Throws: `LinkError` when it cannot listen there, `.notLoopback` among others, and what `body` throws.
    package static func serving(
        on host: String, _ port: Int, to reach: Reach, within limit: Duration,
        _ answering: @escaping WebAnswer.Answering,
        _ body: (Endpoint) async throws -> Void
    ) async throws {
        let addresses = try await SocketAddress.resolve(
            host, port: port, onlyHere: reach == .thisMachine, within: limit)
        guard let address = addresses.first(where: { $0.protocol == .inet }) ?? addresses.first else { return }
        let eventLoop = MultiThreadedEventLoopGroup.forPages.next()
        let most = min(mostConnections, max(1, (PlatformCalls.freeDescriptors - leftToLinks) / 4))
        // The oldest first.
        let open = NIOLoopBoundBox<[any Channel]>.makeBoxSendingValue([], eventLoop: eventLoop)
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                eventLoop.makeCompletedFuture {
                    if open.value.count == most { open.value.removeFirst().close(promise: nil) }
                    open.value.append(channel)
                    let timer = eventLoop.scheduleTask(in: deadline) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in
                        timer.cancel()
                        open.value.removeAll { $0 === channel }
                    }
                    let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
                    try channel.pipeline.syncOperations.addHandlers(
                        [InputLimit(), decoder, HTTPResponseEncoder(), RequestHandler(host, answering)])
                }
            }
        let listening: any Channel
        do {
            listening = try await bootstrap.bind(to: address).get()
        } catch {
            throw LinkError(opening: Endpoint(address) ?? .tcp(host: host, port: port), error)
        }
        defer {
            listening.close(promise: nil)
            eventLoop.execute { for channel in open.value { channel.close(promise: nil) } }
        }
        try await body(listening.localAddress.flatMap(Endpoint.init) ?? .tcp(host: host, port: port))
    }
}

extension MultiThreadedEventLoopGroup {
    fileprivate static let forPages = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}

/// The first handler of a connection: what is beyond the limit is thrown away, and nobody else looks at it.
private final class InputLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Of what browsers send, in bytes.
    private static let most = 16 * 1024
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard count <= Self.most else { return }
        count += Self.unwrapInboundIn(data).readableBytes
        if count <= Self.most {
            context.fireChannelRead(data)
        } else {
            context.fireErrorCaught(HTTPParserError.headerOverflow)
        }
    }
}
