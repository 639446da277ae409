package import EssentialFoundation
import NIOCore
import NIOHTTP1
import NIOSSL
import ShipLinks
import StoreFiles
import Synchronization
package import SystemPackage

/// Speaks with web servers [RFC 9110, RFC 9112]. It keeps the last few connections for the next request. A connection has one request at a
/// time, which is made again if that may help.
package final class WebClient: Sendable {
    private let connectTimeout: Duration
    private let idle: Duration
    private let authorities: FilePath?
    private let proxies: WebProxies
    private let retries: Retries
    /// The connections that are kept, the one that was used last at the end.
    private let connections = Mutex<[(server: WebTarget.Server, connection: WebConnection)]>([])
    /// Most of them: each redirection may lead to another server.
    private static let mostConnections = 4

    /// How often to follow a redirection.
    private static let mostRedirections = 5

    /// - Parameters:
    ///   - idle: How long a server may send nothing.
    ///   - authorities: A file with certificates that are trusted in place of the system's, as PEM.
    package init(
        connectTimeout: Duration, idle: Duration, trusting authorities: FilePath?,
        by proxies: WebProxies = WebProxies(), _ retries: Retries
    ) {
        (self.connectTimeout, self.idle) = (connectTimeout, idle)
        (self.proxies, self.retries) = (proxies, retries)
        self.authorities = authorities ?? PlatformCalls.path(inVariable: "SSL_CERT_FILE")
    }

    deinit { for connection in connections.withLock({ $0.map(\.connection) }) { connection.close() } }

    /// A server's answer, before the content.
    package struct Response: Sendable {
        package let status: Int
        private let headers: HTTPHeaders
        /// A proxy that may have answered in place of the server.
        fileprivate let proxy: WebProxy?

        fileprivate init(_ head: HTTPResponseHead, _ proxy: WebProxy?) {
            self.proxy = proxy
            status = Int(head.status.code)
            headers = head.headers
        }

        /// - Parameter name: In any case.
        package subscript(name: String) -> String? { headers.first(name: name) }

        /// The time at the server.
        package var date: Date? { self["Date"].flatMap { Date(webDate: $0) } }

        /// When what is asked for was changed last, by the server's clock.
        package var modified: Date? { self["Last-Modified"].flatMap { Date(webDate: $0) } }

        /// How long the server asks to wait [RFC 9110 section 10.2.3].
        fileprivate var retryAfter: Duration? {
            guard let text = self["Retry-After"] else { return nil }
            if let seconds = UInt32(text) { return .seconds(seconds) }
            return Date(webDate: text).map { .seconds($0.timeIntervalSince(date ?? Date())) }
        }
    }

    package struct Request: Sendable {
        package var method: String
        package var target: WebTarget
        /// Beside those that every request has.
        package var headers: [(String, String)]
        package var body: Body
        /// Whether to follow redirections.
        package var isRedirectable: Bool

        package init(
            _ method: String, _ target: WebTarget, _ headers: [(String, String)] = [], body: Body = .none,
            isRedirectable: Bool = true
        ) {
            (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
            self.isRedirectable = isRedirectable
        }

        /// Asks for what begins at this byte.
        package mutating func begin(at offset: Int64) {
            headers.removeAll { $0.0 == "Range" }
            if offset > 0 { headers.append(("Range", "bytes=\(offset)-")) }
        }
    }

    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(FilePath, from: Int64 = 0, size: Int64)

        /// `nil` for a request without a body.
        fileprivate var size: Int64? {
            switch self {
            case .none: nil
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, _, let size): size
            }
        }
    }

    /// Makes a request, and reads the answer; makes it again, as `Retries` says, where the answer or its end did not come, or says that
    /// another attempt may succeed.
    ///
    /// - Parameters:
    ///   - limit: How long all of it may take.
    ///   - takes: Whether to read the content: called with each response that counts.
    ///   - take: Called with each piece of the content; returns whether to go on.
    ///   - resume: Called when the content broke off: makes the request one for the rest, or returns `false`.
    /// - Throws: `LinkError`, of these `.io(.badMessage)` for what is no answer of a web server, and what `takes` and `take` throw.
    package func send(
        _ request: Request, within limit: Duration,
        taking takes: (Response) throws -> Bool, _ take: ([UInt8]) throws -> Bool,
        resuming resume: (inout Request) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        var (request, failures) = (request, 0)
        try await Task.sleep(until: retries.start, clock: .continuous)
        while true {
            var (isTaken, hasPassed, next) = (false, true, nil as ContinuousClock.Instant?)
            do {
                try await follow(
                    request, deadline,
                    { response in
                        hasPassed = !Retries.passingStatuses.contains(response.status)
                        if hasPassed {
                            try checkProxy(of: response)
                            return try takes(response)
                        }
                        if let time = response.retryAfter { retries.wait(for: time) }
                        next = retries.time(after: failures + 1, until: deadline)
                        if next == nil { try checkProxy(of: response) }
                        return try next == nil && takes(response)
                    },
                    { piece in
                        // What gets on has not failed in vain.
                        if !isTaken { (isTaken, failures) = (true, 0) }
                        return try take(piece)
                    })
                if hasPassed { retries.succeeded(after: failures) }
                if next == nil { return }
            } catch let error as LinkError where error.mayPassAtOnce {
                // It may have been only the rest of an answer that does not count.
                if next == nil, !isTaken || resume(&request) {
                    next = retries.time(after: failures + 1, until: deadline)
                }
                if next == nil { throw error }
            }
            failures += 1
            if let next { try await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// - Throws: `.proxyFailed` where a proxy says that it has not asked the server.
    private func checkProxy(of response: Response) throws(LinkError) {
        if let proxy = response.proxy, [407, 502, 504].contains(response.status) {
            throw .proxyFailed(proxy.endpoint, .refused(status: response.status))
        }
    }

    /// Makes a request once, and follows where it is sent on.
    private func follow(
        _ request: Request, _ deadline: ContinuousClock.Instant,
        _ takes: (Response) throws -> Bool, _ take: ([UInt8]) throws -> Bool
    ) async throws {
        var request = request
        for _ in 0...Self.mostRedirections {
            guard let next = try await attempt(request, deadline, takes, take) else { return }
            request.target = next
        }
        throw LinkError.io(.badMessage)
    }

    /// - Returns: Where to go on; `nil` if the content was there.
    private func attempt(
        _ request: Request, _ deadline: ContinuousClock.Instant,
        _ takes: (Response) throws -> Bool, _ take: ([UInt8]) throws -> Bool
    ) async throws -> WebTarget? {
        let server = request.target.server
        if let kept = kept(for: server), kept.isOpen {
            do {
                let head = try await exchange(request, over: kept, deadline)
                return try await read(head, of: request, over: kept, deadline, takes, take)
            } catch is ClosedBeforeAnswer {
                // A server may close a connection at any time, just as the next request goes: then it has not seen it.
            }
        }
        let connection = try await WebConnection.open(
            to: server, by: proxies.proxy(for: server), trusting: authorities,
            within: min(connectTimeout, max(.zero, deadline - .now)))
        do {
            let head = try await exchange(request, over: connection, deadline)
            return try await read(head, of: request, over: connection, deadline, takes, take)
        } catch is ClosedBeforeAnswer {
            throw LinkError.closedByPeer
        }
    }

    private func kept(for server: WebTarget.Server) -> WebConnection? {
        connections.withLock { kept in
            kept.lastIndex { $0.server == server }.map { kept.remove(at: $0).connection }
        }
    }

    private func keep(_ connection: WebConnection, to server: WebTarget.Server) {
        let oldest = connections.withLock { kept in
            kept.append((server, connection))
            return kept.count > Self.mostConnections ? kept.removeFirst().connection : nil
        }
        oldest?.close()
    }

    private struct ClosedBeforeAnswer: Error {}

    private func exchange(
        _ request: Request, over connection: WebConnection, _ deadline: ContinuousClock.Instant
    ) async throws -> HTTPResponseHead {
        do {
            do {
                try await write(request, over: connection, deadline)
            } catch LinkError.closedByPeer {
                // A server may say why it takes no more, and close.
            }
            while true {
                switch try await next(of: connection, deadline) {
                // Interim responses come before the one that counts [RFC 9110 section 15.2].
                case .head(let head) where head.status.code < 200: continue
                case .head(let head): return head
                case .body, .end: continue
                case nil: throw ClosedBeforeAnswer()
                }
            }
        } catch LinkError.closedByPeer {
            connection.close()
            throw ClosedBeforeAnswer()
        } catch {
            connection.close()
            throw error
        }
    }

    private func write(
        _ request: Request, over connection: WebConnection, _ deadline: ContinuousClock.Instant
    ) async throws {
        var fields = HTTPHeaders([("Host", request.target.server.authority)])
        let proxy = request.target.server.isSecure ? nil : connection.proxy
        if let authorization = proxy?.authorization { fields.add(name: "Proxy-Authorization", value: authorization) }
        for (name, value) in request.headers { fields.add(name: name, value: value) }
        if let size = request.body.size { fields.add(name: "Content-Length", value: "\(size)") }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method),
            uri: (proxy == nil ? "" : "http://\(request.target.server.authority)") + request.target.target,
            headers: fields)
        func send(_ part: HTTPClientRequestPart) async throws {
            try await connection.send(part, within: max(.zero, min(idle, deadline - .now)))
        }
        try await send(.head(head))
        switch request.body {
        case .none: break
        case .bytes(let bytes): try await send(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
        case .file(let path, var offset, let size):
            let file = try OpenFile.readingWithoutFollowing(path)
            let end = offset + size
            while offset < end {
                let piece = try file.read(Int(min(Int64(PeerLink.pieceSize), end - offset)), at: offset)
                guard !piece.isEmpty else { throw FileError(.read, path, .invalidArgument) }
                try await send(.body(.byteBuffer(ByteBuffer(bytes: piece))))
                offset += Int64(piece.count)
            }
        }
        try await send(.end(nil))
    }

    private func next(
        of connection: WebConnection, _ deadline: ContinuousClock.Instant
    ) async throws(LinkError) -> HTTPClientResponsePart? {
        try await connection.next(within: max(.zero, min(idle, deadline - .now)))
    }

    private func read(
        _ head: HTTPResponseHead, of request: Request, over connection: WebConnection,
        _ deadline: ContinuousClock.Instant, _ takes: (Response) throws -> Bool, _ take: ([UInt8]) throws -> Bool
    ) async throws -> WebTarget? {
        var isWhole = false
        // What is left of an answer would be taken for the next.
        defer {
            if isWhole, head.isKeepAlive, connection.isOpen {
                keep(connection, to: request.target.server)
            } else {
                connection.close()
            }
        }
        let response = Response(head, request.target.server.isSecure ? nil : connection.proxy)
        let isRedirected = request.isRedirectable && Self.redirections.contains(response.status)
        let next = isRedirected ? response["Location"] : nil
        let goesOn = try next == nil ? takes(response) : false
        var ignored = 0
        reading: while true {
            switch try await self.next(of: connection, deadline) {
            case .body(let buffer):
                if goesOn {
                    guard try take(Array(buffer.readableBytesView)) else { break reading }
                } else {
                    // A short page that explains a status is read, so that the connection can be kept.
                    ignored += buffer.readableBytes
                    guard ignored <= Self.longestIgnored else { break reading }
                }
            case .end:
                isWhole = true
                break reading
            case .head: throw LinkError.io(.badMessage)
            case nil: throw LinkError.closedByPeer
            }
        }
        guard let next else { return nil }
        guard let further = request.target.redirected(to: next) else { throw LinkError.io(.badMessage) }
        return further
    }

    private static let redirections: Set<Int> = [301, 302, 303, 307, 308]
    private static let longestIgnored = 64 * 1024
}

extension LinkError {
    fileprivate var mayPassAtOnce: Bool {
        switch self {
        case .closedByPeer: true
        case .proxyFailed(_, .refused(let status)): Retries.passingStatuses.contains(status)
        default: false
        }
    }
}
