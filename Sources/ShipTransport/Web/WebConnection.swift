import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ShipLinks
import StoreFiles
import SystemPackage

/// A connection to a web server. One request at a time goes over it.
struct WebConnection: PreparedChannel {
    let channel: any Channel
    /// By way of which it goes.
    let proxy: WebProxy?
    /// The proxy's answer to who wants a way to the server.
    private let tunnel: EventLoopFuture<Int>?
    private let input: NIOLoopBound<IncomingPieces<HTTPClientResponsePart, HTTPClientResponsePart>>
    private let end: EndMark

    /// Whether another request may go over it.
    var isOpen: Bool { !end.isSet && channel.isActive }

    /// - Parameter authorities: A file with certificates that are trusted in place of the system's, as PEM.
    /// - Throws: The errors that `LinkError` lists under making the link.
    static func open(
        to server: WebTarget.Server, by proxy: WebProxy?, trusting authorities: FilePath?, within limit: Duration
    ) async throws(LinkError) -> WebConnection {
        let context = server.isSecure ? try makeContext(trusting: authorities) : nil
        let deadline = ContinuousClock.now + limit
        guard let proxy else {
            return try await connect(to: server.host, server.port, at: server.place, by: deadline) {
                try WebConnection(preparing: $0, server, nil, context)
            }
        }
        let connection: WebConnection
        do throws(LinkError) {
            connection = try await connect(to: proxy.host, proxy.port, at: proxy.endpoint, by: deadline) {
                try WebConnection(preparing: $0, server, proxy, context)
            }
        } catch {
            switch error {
            case .timedOutConnecting: throw .proxyFailed(proxy.endpoint, .silent)
            case .couldNotResolve, .refused, .unreachable: throw .proxyFailed(proxy.endpoint, .unreachable)
            default: throw error
            }
        }
        do throws(LinkError) {
            try await connection.awaitTunnel(by: proxy, within: deadline - .now)
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private static func connect(
        to host: String, _ port: Int, at place: Endpoint, by deadline: ContinuousClock.Instant,
        preparing prepare: @escaping @Sendable (any Channel) throws -> WebConnection
    ) async throws(LinkError) -> WebConnection {
        let addresses = try await SocketAddress.resolve(host, port: port, within: deadline - .now)
        return try await ClientBootstrap.connect(
            to: place, within: deadline - .now, preparing: prepare
        ) { bootstrap in
            bootstrap.resolver(ResolvedAddresses(addresses: addresses)).connect(host: host, port: port)
        }
    }

    private func awaitTunnel(by proxy: WebProxy, within limit: Duration) async throws(LinkError) {
        guard let tunnel else { return }
        let status = try await AwaitedAnswer<Int>.wait(
            within: limit, or: .proxyFailed(proxy.endpoint, .silent)
        ) { answer in
            tunnel.whenComplete { result in
                answer.give(result.mapError { _ in LinkError.proxyFailed(proxy.endpoint, .noProxy) })
            }
        }
        guard (200..<300).contains(status) else {
            throw .proxyFailed(proxy.endpoint, .refused(status: status))
        }
    }

    private init(
        preparing channel: any Channel, _ server: WebTarget.Server, _ proxy: WebProxy?, _ context: NIOSSLContext?
    ) throws {
        try channel.syncOptions?.setOption(.autoRead, value: false)
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 2)
        try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
        // It asks for more only when none is left.
        let handler = IncomingPieces<HTTPClientResponsePart, HTTPClientResponsePart>(
            upTo: 1, canWrite: false, closesOnError: true, explaining: LinkError.init(onWeb:)
        ) { ($0, 1) }
        func addHandlers() throws {
            let pipeline = channel.pipeline.syncOperations
            if let context {
                // An address has no name that the server could be asked for.
                let isAddress = (try? SocketAddress(ipAddress: server.host, port: 0)) != nil
                try pipeline.addHandler(
                    try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : server.host))
            }
            try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes)
            try pipeline.addHandler(handler)
        }
        if let proxy, server.isSecure {
            let way = TunnelHandler(to: server, by: proxy, on: channel.eventLoop, addHandlers)
            tunnel = way.status
            try channel.pipeline.syncOperations.addHandler(way)
        } else {
            tunnel = nil
            try addHandlers()
        }
        (self.channel, self.proxy) = (channel, proxy)
        input = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        end = handler.hasEnded
    }

    /// Largest file of certificates, in bytes.
    private static let mostOfAuthorities = 16 * 1024 * 1024

    private static func makeContext(trusting authorities: FilePath?) throws(LinkError) -> NIOSSLContext {
        var roots = NIOSSLTrustRoots.default
        if let authorities {
            let bytes = try LinkError.wrapping { () throws(FileError) in
                try FileError.unless([.invalidArgument]) { () throws(FileError) in
                    try OpenFile.readingPlain(authorities).read(mostOfAuthorities, at: 0)
                }
            }
            guard let bytes, let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
                throw .noAuthorities(authorities)
            }
            roots = .certificates(certificates)
        }
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

    /// Sends a part of a request. For `limit` the server may take no byte.
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
    init(onWeb error: any Error) {
        switch error {
        // A connection that is cut ends without TLS's own farewell.
        case NIOSSLError.uncleanShutdown: self = .closedByPeer
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            let text = String(describing: error)
            self =
                text.contains("CERTIFICATE_VERIFY_FAILED") || error is NIOSSLExtraError
                ? .certificateRefused : .tlsFailed(Self.wordsOnWeb(text))
        case HTTPParserError.invalidEOFState: self = .closedByPeer
        case is HTTPParserError: self = .io(.badMessage)
        default: self.init(onOpenLink: error)
        }
    }
}
