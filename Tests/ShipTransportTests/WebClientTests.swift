import EssentialFoundation
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipTransport

/// Requests to web servers: what is sent again, when, and how often.
@Suite struct WebClientTests {
    private typealias Answer = HTTPServer.Answer

    /// What a server has been asked, and when.
    private final class Log: Sendable {
        private let requests = Mutex<[(request: HTTPServer.Request, time: ContinuousClock.Instant)]>([])

        /// - Returns: How many there were before.
        func add(_ request: HTTPServer.Request) -> Int {
            requests.withLock { requests in
                requests.append((request, .now))
                return requests.count - 1
            }
        }

        var all: [HTTPServer.Request] { requests.withLock { $0.map(\.request) } }
        /// How long each came after the one before.
        var pauses: [Duration] {
            requests.withLock { requests in zip(requests.dropFirst(), requests).map { $0.time - $1.time } }
        }
    }

    /// A server that gives these answers, and the last one again and again.
    private func serving(_ answers: [Answer]) throws -> (server: HTTPServer, log: Log) {
        let log = Log()
        return (try HTTPServer { answers[min(log.add($0), answers.count - 1)] }, log)
    }

    private func client(_ retries: Retries = Retries(pause: .milliseconds(1)), idle: Duration = patience) -> WebClient {
        WebClient(connectTimeout: patience, idle: idle, trusting: nil, by: WebProxies([:]), retries)
    }

    /// - Returns: The status and the content, which is asked for again from where it broke off.
    private func get(
        _ server: HTTPServer, by client: WebClient, within limit: Duration = patience
    ) async throws -> (status: Int, content: [UInt8]) {
        guard case .web(let address) = try Endpoint("http://127.0.0.1:\(server.port)") else { return (0, []) }
        var (status, content) = (0, [UInt8]())
        try await client.send(
            WebClient.Request("GET", WebTarget("x", at: address)), within: limit,
            taking: { response in
                status = response.status
                return true
            },
            { piece in
                content += piece
                return true
            },
            resuming: { request in
                request.begin(at: Int64(content.count))
                return true
            })
        return (status, content)
    }

    @Test(arguments: [
        ("WRONG_VERSION_NUMBER", "the server speaks no TLS at this port"),
        ("UNSUPPORTED_PROTOCOL", "UNSUPPORTED_PROTOCOL"),
    ])
    func `a link that cannot be encrypted is told in words`(reason: String, words: String) {
        let text = "handshakeFailed(NIOSSL.BoringSSLError.sslError([Error: 268435703 error:100000f7:SSL routines:"
        #expect(LinkError.wordsOnWeb(text + "OPENSSL_internal:\(reason) at tls_record.cc:127]))") == words)
    }

    @Test func `a kept connection that was closed before an answer is made anew at once`() async throws {
        let (server, log) = try serving([Answer(200), Answer([], .closes), Answer(200)])
        // It would wait for minutes.
        let client = client(Retries(pause: .seconds(3600)))
        for _ in 0..<2 { #expect(try await get(server, by: client).status == 200) }
        #expect(log.all.map(\.connection) == [1, 1, 2])
    }

    @Test func `of servers to which redirections lead the last few connections are kept`() async throws {
        let targets = try (0..<8).map { _ in try serving([Answer(200)]) }
        let (origin, log) = try serving(
            (targets + targets.prefix(1)).map {
                Answer(302, ["Location: http://127.0.0.1:\($0.server.port)/x"])
            })
        let client = client()
        for _ in 0..<9 { #expect(try await get(origin, by: client).status == 200) }
        #expect(log.all.allSatisfy { $0.connection == 1 })
        #expect(targets[0].log.all.map(\.connection) == [1, 2])
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `what may pass is asked for again, and no more often than that`(status: Int) async throws {
        let (server, log) = try serving([Answer(status, [], [1, 2]), Answer(status), Answer(200, [], [7])])
        #expect(try await get(server, by: client()) == (200, [7]))
        #expect(log.all.count == 3)
        let (lasting, attempts) = try serving([Answer(status)])
        #expect(try await get(lasting, by: client()).status == status)
        #expect(attempts.all.count == Retries.mostAttempts)
        let (other, once) = try serving([Answer(403)])
        #expect(try await get(other, by: client()).status == 403)
        #expect(once.all.count == 1)
    }

    @Test func `content that broke off is asked for from there`() async throws {
        let body = [UInt8](0..<100)
        let cut = Answer(Array(Answer(200, [], body).bytes.dropLast(60)), .closes)
        let (server, log) = try serving([cut, Answer(206, ["Content-Range: bytes 40-99/100"], Array(body[40...]))])
        #expect(try await get(server, by: client()).content == body)
        #expect(log.all.map { $0.headers["range"] } == [nil, "bytes=40-"])
    }

    @Test(
        arguments: [
            ("https://a/x", "https://b/z?q", "https://b/z?q"), ("http://a/x", "https://b/z", "https://b/z"),
            ("https://a/x", "http://a/x/y", nil), ("https://a/x", "//b/z", "https://b/z"),
            ("https://a:444/x", "/z", "https://a:444/z"), ("https://a/x", "z#part", "https://a/x/z"),
            ("https://a/x", "ftp://b/z", nil), ("http://a/x", "http://b", "http://b/"),
            ("https://a/x", "https://b/ z", nil), ("https://a/x", "https://user@b/z", nil),
        ] as [(String, String, String?)])
    func `who is sent on never leaves TLS`(from: String, to: String, expected: String?) throws {
        guard case .web(let address) = try Endpoint(from) else { return }
        let target = WebTarget("y", at: address).redirected(to: to)
        let url = target.map { "\($0.server.isSecure ? "https" : "http")://\($0.server.authority)\($0.target)" }
        #expect(url == expected)
    }

    @Test func `redirections are followed five times, and not where it is said`() async throws {
        let (server, log) = try serving([Answer(302, ["Location: /again"])])
        await #expect(throws: LinkError.io(.badMessage)) { _ = try await get(server, by: client()) }
        #expect(log.all.count == 6)
        guard case .web(let address) = try Endpoint("http://127.0.0.1:\(server.port)") else { return }
        let signed = WebClient.Request("GET", WebTarget("x", at: address), isRedirectable: false)
        var status = 0
        try await client().send(
            signed, within: patience,
            taking: { response in
                status = response.status
                return true
            }, { _ in true }, resuming: { _ in false })
        #expect(status == 302 && log.all.count == 7)
    }

    @Test func `a server that is down for all hears of each client about once for each request`() async throws {
        let (server, log) = try serving([Answer(503)])
        let client = client()
        for _ in 0..<40 { #expect(try await get(server, by: client).status == 503) }
        #expect((41...50).contains(log.all.count))
    }

    @Test(arguments: [false, true])
    func `a server that asks for time gets it, and not for ever`(isDate: Bool) async throws {
        // By its own clock, which is wrong.
        let date = isDate ? ["Date: Fri, 20 Nov 2026 19:04:05 GMT"] : []
        let later = isDate ? "Retry-After: Fri, 20 Nov 2026 19:04:06 GMT" : "Retry-After: 1"
        let (server, log) = try serving([Answer(429, date + [later]), Answer(200)])
        #expect(try await get(server, by: client()).status == 200)
        #expect(try #require(log.pauses.first) >= .seconds(1))
        // What would take longer than all of it may is not waited for.
        let much = isDate ? "Retry-After: Fri, 20 Nov 2027 19:04:06 GMT" : "Retry-After: 4000000000"
        let (patientless, attempts) = try serving([Answer(503, date + [much])])
        #expect(try await get(patientless, by: client()).status == 503)
        #expect(attempts.all.count == 1)
    }

    @Test func `pauses double, and are of any length up to that`() {
        var longest = [Duration](repeating: .zero, count: 4)
        var shortest = [Duration](repeating: .seconds(9000), count: 4)
        for _ in 0..<500 {
            let (retries, now) = (Retries(pause: .seconds(100)), ContinuousClock.now)
            for failures in 1..<Retries.mostAttempts {
                guard let time = retries.time(after: failures, until: now + .seconds(4000)) else { continue }
                longest[failures] = max(longest[failures], time - now)
                shortest[failures] = min(shortest[failures], time - now)
            }
            #expect(retries.time(after: Retries.mostAttempts, until: now + .seconds(4000)) == nil)
        }
        for failures in 1..<Retries.mostAttempts {
            let bound = Duration.seconds(100 << (failures - 1))
            #expect(longest[failures] > bound * 0.9 && longest[failures] <= bound + .seconds(1))
            #expect(shortest[failures] < bound * 0.1)
        }
    }
}
