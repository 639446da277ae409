import NIOCore
import NIOHTTP1

/// The last handler of a connection to a `WebServer`: takes one request, sends what it is answered, and says that this was all. The client
/// closes the connection, or the deadline does: a close while bytes still come would throw the answer away.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    /// By which browsers may call this server, beside its addresses.
    private let name: String
    private let answering: WebAnswer.Answering
    private var isTaken = false

    init(_ name: String, _ answering: @escaping WebAnswer.Answering) {
        (self.name, self.answering) = (name.lowercased(), answering)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let request) = Self.unwrapInboundIn(data), take() else { return }
        let (channel, isHead) = (context.channel, request.method == .HEAD)
        guard isHead || request.method == .GET else {
            return channel.end(with: WebAnswer("only GET and HEAD are answered\n", status: 405), isHead: false)
        }
        guard isMeant(by: request) else {
            return channel.end(with: WebAnswer("this server is asked by its address\n", status: 421), isHead: isHead)
        }
        let (target, answering) = (request.uri.prefix { $0 != "?" }, answering)
        context.eventLoop.makeFutureWithTask { await answering(String(target)) }.whenSuccess {
            channel.end(with: $0, isHead: isHead)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
        guard take() else { return }
        let isLong = error == .headerOverflow
        let words = isLong ? "the request is too long\n" : "this is no request of HTTP\n"
        context.channel.end(with: WebAnswer(words, status: isLong ? 431 : 400), isHead: false)
    }

    /// - Returns: `false` if there was a request before.
    private func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Whether the request names this server as its user would. Any other name is one whose owner has pointed it here, to read what is here by
    /// a page of his own (DNS rebinding); an address is nobody's to point.
    private func isMeant(by request: HTTPRequestHead) -> Bool {
        let hosts = request.headers["host"]
        // No browser leaves it out.
        if hosts.isEmpty, request.version == .http1_0 { return true }
        guard hosts.count == 1, var host = hosts.first?.lowercased()[...] else { return false }
        if !host.hasSuffix("]"), let colon = host.lastIndex(of: ":") { host = host[..<colon] }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host == "localhost" || host == name || (try? SocketAddress(ipAddress: String(host), port: 0)) != nil
    }
}

extension Channel {
    fileprivate func end(with answer: WebAnswer, isHead: Bool) {
        var fields: HTTPHeaders = [
            "Content-Type": answer.type, "Content-Length": "\(answer.body.count)", "Connection": "close",
            "Cache-Control": "no-store", "Content-Security-Policy": answer.policy,
            "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        ]
        if answer.status == 405 { fields.add(name: "Allow", value: "GET, HEAD") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: fields)
        write(HTTPServerResponsePart.head(head), promise: nil)
        if !isHead { write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil) }
        writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { [self] _ in close(mode: .output, promise: nil) }
    }
}
