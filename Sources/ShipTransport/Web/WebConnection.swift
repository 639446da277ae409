import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ShipLinks
import SystemPackage

/// A connection to a web server. One request at a time goes over it.
struct WebConnection: PreparedChannel {
    let channel: any Channel
    private let input: NIOLoopBound<ResponseHandler>
    private let end: EndMark

    /// Whether another request may go over it.
    var isOpen: Bool { !end.isSet && channel.isActive }

    private init(_ channel: any Channel, _ handler: ResponseHandler) {
        self.channel = channel
        input = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        end = handler.hasEnded
    }

    /// - Throws: The errors that `LinkError` lists under making the link.
    static func open(
        to server: WebTarget.Server, trusting roots: NIOSSLTrustRoots, within limit: Duration
    ) async throws(LinkError) -> WebConnection {
        let deadline = ContinuousClock.now + limit
        let addresses = try await SocketAddress.resolve(server.host, port: server.port, within: limit)
        let context = server.isSecure ? try makeContext(trusting: roots) : nil
        return try await ClientBootstrap.connect(
            to: .tcp(host: server.host, port: server.port), within: deadline - .now,
            preparing: { try WebConnection(preparing: $0, server, context) }
        ) { bootstrap in
            let resolved = ResolvedAddresses(
                addresses: addresses, eventLoop: MultiThreadedEventLoopGroup.forLinks.next())
            return bootstrap.resolver(resolved).connect(host: server.host, port: server.port)
        }
    }

    private init(preparing channel: any Channel, _ server: WebTarget.Server, _ context: NIOSSLContext?) throws {
        try channel.syncOptions?.setOption(.autoRead, value: false)
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 2)
        try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
        let pipeline = channel.pipeline.syncOperations
        if let context {
            // An address has no name that the server could be asked for.
            let isAddress = (try? SocketAddress(ipAddress: server.host, port: 0)) != nil
            try pipeline.addHandler(
                try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : server.host))
        }
        try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
        let handler = ResponseHandler()
        try pipeline.addHandler(handler)
        self.init(channel, handler)
    }

    private static func makeContext(trusting roots: NIOSSLTrustRoots) throws(LinkError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.trustRoots = roots
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .tlsFailed("\(error)")
        }
    }

    /// Sends a part of a request.
    ///
    /// - Parameter limit: How long the server may take no byte.
    func send(_ part: HTTPClientRequestPart, within limit: Duration) async throws(LinkError) {
        try await AwaitedAnswer<Void>.wait(within: limit, or: .timedOut(.writing)) { answer in
            channel.writeAndFlush(part).whenComplete { result in
                answer.give(result.mapError { LinkError(onWeb: $0) })
            }
        }
    }

    /// The next part of the response; `nil` at the end of the connection.
    func next(within limit: Duration) async throws(LinkError) -> HTTPClientResponsePart? {
        let time = TimeAmount(clamping: limit)
        return try await AwaitedAnswer.wait { answer in
            channel.eventLoop.execute { input.value.wait(answer, limit: time, on: channel.eventLoop) }
        }
    }

    func close() { channel.close(promise: nil) }
}

extension LinkError {
    /// The error of a connection to a web server.
    init(onWeb error: any Error) {
        switch error {
        // A connection that is cut ends without TLS's own farewell.
        case NIOSSLError.uncleanShutdown: self = .closedByPeer
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            let text = String(describing: error)
            self =
                text.contains("CERTIFICATE_VERIFY_FAILED") || error is NIOSSLExtraError
                ? .certificateRefused : .tlsFailed(text)
        case HTTPParserError.invalidEOFState: self = .closedByPeer
        case is HTTPParserError: self = .io(.badMessage)
        default: self.init(onOpenLink: error)
        }
    }
}
