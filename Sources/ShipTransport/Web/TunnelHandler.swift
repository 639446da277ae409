import NIOCore
import ShipLinks

/// Asks a proxy for a way to a server [RFC 9110 section 9.3.6]. Once there is one, what speaks with the server takes its place.
///
/// All of it runs on the channel's event loop.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The status of the proxy's answer.
    let status: EventLoopFuture<Int>
    private let promise: EventLoopPromise<Int>
    private let request: String
    private let open: () throws -> Void
    private var answer: [UInt8] = []
    private var isDone = false

    /// Longest answer, in bytes.
    private static let longestAnswer = 16 * 1024

    /// - Parameter open: Adds what speaks with the server.
    init(
        to server: WebTarget.Server, by proxy: WebProxy, on eventLoop: any EventLoop,
        _ open: @escaping () throws -> Void
    ) {
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        let target = "\(host):\(server.port)"
        let authorization = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(authorization)\r\n"
        promise = eventLoop.makePromise()
        status = promise.futureResult
        self.open = open
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
        context.read()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        answer += unwrapInboundIn(data).readableBytesView
        let end = Array("\r\n\r\n".utf8)
        guard let head = answer.firstRange(of: end) else {
            if answer.count > Self.longestAnswer { finish(.failure(HeadIsMissing())) }
            return
        }
        let words = String(decoding: answer[..<head.lowerBound], as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard words.count > 1, words[0].hasPrefix("HTTP/1."), let code = Int(words[1].prefix(3)) else {
            return finish(.failure(HeadIsMissing()))
        }
        guard (200..<300).contains(code) else { return finish(.success(code)) }
        do {
            // The server does not speak first.
            guard head.upperBound == answer.endIndex else { throw HeadIsMissing() }
            try open()
            finish(.success(code))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            finish(.failure(error))
        }
    }

    private struct HeadIsMissing: Error {}

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isDone { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(HeadIsMissing()))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.failure(error))
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish(.failure(HeadIsMissing())) }

    private func finish(_ result: Result<Int, any Error>) {
        guard !isDone else { return }
        isDone = true
        promise.completeWith(result)
    }
}
