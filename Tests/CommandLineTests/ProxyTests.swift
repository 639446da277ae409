import Foundation
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// A receiver behind a proxy.
@Suite struct ProxyTests {
    /// A proxy on loopback, and what it was asked for.
    private final class Proxy: Sendable {
        enum Manner { case plain, hangs, chatters, refuses(Int) }

        let server: HTTPServer
        private let requests: Log
        private final class Log: Sendable { let all = Mutex<[HTTPServer.Request]>([]) }

        init(_ manner: Manner) throws {
            let log = Log()
            requests = log
            server = try HTTPServer { request in
                log.all.withLock { $0.append(request) }
                switch manner {
                case .refuses(let status): return HTTPServer.Answer(status)
                case .hangs: return HTTPServer.Answer([], .hangs)
                case .chatters: return HTTPServer.Answer([], .endless([UInt8](repeating: 65, count: 1000)))
                case .plain: break
                }
                let port =
                    UInt16(
                        request.target.split(separator: "/")[request.method == "CONNECT" ? 0 : 1]
                            .split(separator: ":").last ?? "") ?? 0
                if request.method == "CONNECT" {
                    return HTTPServer.Answer(Array("HTTP/1.1 200 Yes\r\n\r\n".utf8), .tunnel(to: port, []))
                }
                let fields = request.headers.map { "\($0): \($1)\r\n" }.joined()
                return HTTPServer.Answer(
                    [], .tunnel(to: port, Array("GET \(request.target) HTTP/1.1\r\n\(fields)\r\n".utf8)))
            }
        }

        var log: [HTTPServer.Request] { requests.all.withLock(\.self) }
        var address: String { "127.0.0.1:\(server.port)" }
    }

    /// What is published, a server with TLS that shows it, and one without.
    private struct Kitchen {
        let desk: Desk
        let plain: WebServer
        private let secure: ChildProgram
        let secureURL: String

        init() async throws {
            desk = try Desk()
            try desk.makeStore(rows: 300)
            try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen").expectSuccess()
            plain = try WebServer(desk["public/kitchen"])
            let made = try await desk.shell(
                """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
                    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out authority.pem
                """)
            #expect(made.status == .exited(0), "\(made.stderr)")
            secure = try ChildProgram(
                "/usr/bin/openssl",
                ["s_server", "-WWW", "-accept", "127.0.0.1:0", "-cert", "../authority.pem", "-key", "../key.pem"],
                input: .nothing, in: desk["public"])
            let line = try await secure.waitForLine(containing: "ACCEPT", on: .output, timeout: .seconds(10))
            secureURL = "https://localhost:\(line.split(separator: ":").last ?? "")/kitchen"
        }

        func receive(
            from url: String, _ variables: [String], _ options: String...
        ) async throws -> ChildProgram.Outcome {
            try await desk.start(
                ["receive", "--into", "inbox", "--from", url] + options, through: variables, input: .nothing
            ).wait(timeout: .seconds(60))
        }

        func expectArrival() throws {
            #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
            try Folder.removeTree(at: desk["inbox"])
        }

        func stop() async throws {
            plain.stop()
            secure.signal(SIGTERM)
            _ = try await secure.wait(timeout: .seconds(10))
        }
    }

    @Test func `what is published arrives by way of a proxy`() async throws {
        let (kitchen, proxy) = (try await Kitchen(), try Proxy(.plain))
        let named = "http://me:s%3Acret@\(proxy.address)"
        // Each by its own variable, and with authorities from each place.
        try await kitchen.receive(from: kitchen.plain.url, ["http_proxy=\(named)"]).expectSuccess()
        try kitchen.expectArrival()
        #expect(proxy.log.map(\.target) == ["\(kitchen.plain.url)/head"])
        try await kitchen.receive(from: kitchen.secureURL, ["HTTPS_PROXY=\(named)"], "--ca-file", "authority.pem")
            .expectSuccess()
        try kitchen.expectArrival()
        try await kitchen.receive(
            from: kitchen.secureURL, ["all_proxy=\(named)", "SSL_CERT_FILE=authority.pem"]
        ).expectSuccess()
        try kitchen.expectArrival()
        let tunnels = proxy.log.filter { $0.method == "CONNECT" }
        #expect(!tunnels.isEmpty && proxy.log.dropFirst().count == tunnels.count)
        #expect(tunnels.allSatisfy { "https://\($0.target)/kitchen" == kitchen.secureURL })
        // "me:s:cret"
        #expect(proxy.log.allSatisfy { $0.headers["proxy-authorization"] == "Basic bWU6czpjcmV0" })
        let before = proxy.log.count
        try await kitchen.receive(from: kitchen.plain.url, ["http_proxy=\(named)", "no_proxy=127.0.0.1"])
            .expectSuccess()
        #expect(proxy.log.count == before)
        try await kitchen.stop()
    }

    @Test func `a proxy that is no help is named, and it is said what to do`() async throws {
        let kitchen = try await Kitchen()
        let manners: [(Proxy.Manner, said: String, status: Int32, attempts: ClosedRange<Int>)] = [
            (.refuses(407), "answers with status 407", 77, 1...1),
            (.refuses(502), "answers with status 502", 69, 4...4),
            (.refuses(403), "status 403", 69, 1...1), (.hangs, "", 69, 1...1), (.chatters, "", 76, 1...1),
        ]
        for (manner, said, status, attempts) in manners {
            for url in [kitchen.plain.url, kitchen.secureURL] {
                let proxy = try Proxy(manner)
                let outcome = try await kitchen.receive(
                    from: url, ["all_proxy=\(proxy.address)"], "--connect-timeout", "1", "--idle-timeout", "1")
                #expect(
                    outcome.status != .exited(0) && (said.isEmpty || outcome.stderr.contains(said)), "\(outcome.stderr)"
                )
                #expect(attempts.contains(proxy.log.count), "\(manner) \(url)")
                // Of a status the proxy is known to be the author, as far as servers do not say the same.
                if case .refuses(let code) = manner, url == kitchen.secureURL || code != 403 {
                    #expect(outcome.status == .exited(status), "\(outcome.stderr)")
                    #expect(outcome.stderr.contains(proxy.address) && outcome.stderr.contains("proxy"))
                    #expect(outcome.stderr.contains("hint"), "\(outcome.stderr)")
                } else if url == kitchen.secureURL {
                    #expect(outcome.stderr.contains(proxy.address), "\(outcome.stderr)")
                }
            }
        }
        let none = try await kitchen.receive(from: kitchen.plain.url, ["http_proxy=127.0.0.1:1"])
        #expect(none.stderr.contains("the proxy 127.0.0.1:1 cannot be reached"), "\(none.stderr)")
        let bad = try await kitchen.receive(from: kitchen.plain.url, ["http_proxy=socks5://me:secret@host:1"])
        #expect(bad.status == .exited(64) && bad.stderr.contains("http_proxy"), "\(bad.stderr)")
        #expect(!bad.stderr.contains("secret"))
        try await kitchen.stop()
    }

    @Test func `a certificate that does not count is named, and so is a file without any`() async throws {
        let kitchen = try await Kitchen()
        let stranger = try await kitchen.receive(from: kitchen.secureURL, [])
        #expect(stranger.status == .exited(77) && stranger.stderr.contains("--ca-file"), "\(stranger.stderr)")
        // To storage it is the same. It keeps what the server shows in a bucket, and looks at no signature.
        let keys = ["AWS_ACCESS_KEY_ID=K", "AWS_SECRET_ACCESS_KEY=S", "AWS_CONFIG_FILE=none"]
        let server = kitchen.secureURL.replacing("/kitchen", with: "")
        let unknown = try await kitchen.receive(from: "s3://kitchen", keys, "--endpoint-url", server)
        #expect(unknown.status == .exited(77) && unknown.stderr.contains("--ca-file"), "\(unknown.stderr)")
        let bundle = keys + ["AWS_CA_BUNDLE=authority.pem", "SSL_CERT_FILE=none.pem"]
        try await kitchen.receive(from: "s3://kitchen", bundle, "--endpoint-url", server).expectSuccess()
        try kitchen.expectArrival()
        try await kitchen.desk.shell("mkfifo pipe").expectSuccess()
        for pipe in [
            try await kitchen.receive(from: kitchen.secureURL, [], "--ca-file", "pipe"),
            try await kitchen.receive(from: kitchen.secureURL, ["SSL_CERT_FILE=pipe"]),
        ] {
            #expect(pipe.status == .exited(66) && pipe.stderr.contains("pipe has no certificate"), "\(pipe.stderr)")
        }
        let empty = try await kitchen.receive(from: kitchen.secureURL, [], "--ca-file", "Recipes.sqlite")
        #expect(empty.status == .exited(66) && empty.stderr.contains("Recipes.sqlite has no cert"), "\(empty.stderr)")
        let missing = try await kitchen.receive(from: kitchen.secureURL, ["SSL_CERT_FILE=none.pem"])
        #expect(missing.status != .exited(0) && missing.stderr.contains("none.pem"), "\(missing.stderr)")
        try await kitchen.stop()
    }
}
