import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `receive --serve`: what the page and its neighbours say, to whom, and that nobody who asks can hold up the receiver.
@Suite struct StatusPageTests {
    private static let hostile = "</li><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"

    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    /// A receiver, and the port of its page.
    private struct Served {
        let receiver: Receiver
        let port: UInt16

        func ask(_ target: String, _ method: String = "GET", fields: [String] = ["Host: 127.0.0.1"]) throws -> Answer {
            try ask(raw: (["\(method) \(target) HTTP/1.1"] + fields + ["", ""]).joined(separator: "\r\n"))
        }

        /// The server says itself when it has said all.
        func ask(raw: String) throws -> Answer {
            let socket = try RawSocket.connected(to: port)
            try socket.write(Array(raw.utf8))
            return try Answer(socket.readToEnd())
        }
    }

    private struct Answer {
        let status: Int
        let fields: [String: String]
        let body: String

        init(_ bytes: [UInt8]) throws {
            let text = String(decoding: bytes, as: UTF8.self)
            let end = try #require(text.range(of: "\r\n\r\n"), "\(text)")
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            status = try #require(lines.first.flatMap { Int($0.split(separator: " ")[1]) })
            fields = Dictionary(
                uniqueKeysWithValues: lines.dropFirst().map { line in
                    let colon = line.firstIndex(of: ":") ?? line.endIndex
                    return (line[..<colon].lowercased(), line[colon...].dropFirst(2).description)
                })
            body = String(text[end.upperBound...])
        }
    }

    private func serve(
        on address: String = "127.0.0.1:0", into inbox: String = "inbox", _ options: String...
    ) async throws -> Served {
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", into: inbox, ["--serve", address] + options)
        let line = try await receiver.program.waitForLine(containing: "serving the status on http://")
        return Served(receiver: receiver, port: try #require(line.firstMatch(of: /:(\d+)\/$/).flatMap { UInt16($0.1) }))
    }

    private func send(_ store: String, to served: Served, _ status: Int32 = 0) async throws {
        #expect(try await desk.run("send", store, "--to", served.receiver.address).status == .exited(status))
    }

    private func objects(_ answer: Answer) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [[String: Any]])
    }

    @Test func `who has said all, or speaks an older HTTP, is answered`() async throws {
        let served = try await serve()
        let socket = try RawSocket.connected(to: served.port)
        try socket.write(Array("GET /healthz?now HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
        socket.endWriting()
        #expect(try Answer(socket.readToEnd()).body == "ok\n")
        #expect(try served.ask(raw: "GET /healthz HTTP/1.0\r\n\r\n").body == "ok\n")
        #expect(try served.ask(raw: "GET /healthz HTTP/1.1\r\n\r\n").status == 421)
    }

    // MARK: What is there

    @Test func `each path says the same as the command or the file of its kind`() async throws {
        let served = try await serve("--metrics", "m.prom", "--json")
        try await send("Recipes.sqlite", to: served)
        try await desk.waitUntil { try served.ask("/status.json").body.contains("Recipes") }
        let told = try await desk.run("status", "--into", "inbox", "--json").objects()
        let objects = try objects(served.ask("/status.json"))
        #expect(objects as NSArray == told as NSArray)
        #expect(try OutputSchema().faults(in: objects[0], of: "status") == [])
        #expect(try served.ask("/healthz").body == "ok\n")
        let page = try served.ask("/")
        for words in ["no store is failing", "<h2>Recipes</h2><strong>ok</strong>", told[0]["installedAt"] as? String] {
            let words = try #require(words)
            #expect(page.body.contains(words))
        }
        // It is written once a second, and the answers are as old as that.
        try await desk.waitUntil {
            try served.ask("/metrics").body == String(contentsOfFile: desk["m.prom"].string, encoding: .utf8)
        }
        for target in ["/", "/status.json", "/metrics", "/healthz", "/none"] {
            let (answer, head) = (try served.ask(target), try served.ask(target, "HEAD"))
            #expect(answer.status == (target == "/none" ? 404 : 200) && head.status == answer.status)
            #expect(head.body == "" && answer.fields["content-length"] == "\(answer.body.utf8.count)")
            #expect(answer.fields["cache-control"] == "no-store" && answer.fields["connection"] == "close")
            #expect(answer.fields["x-content-type-options"] == "nosniff")
            #expect(answer.fields["referrer-policy"] == "no-referrer")
            #expect(answer.fields["content-security-policy"]?.hasPrefix("default-src 'none'; ") == true)
            #expect(answer.fields.keys.allSatisfy { !$0.hasPrefix("access-control") && $0 != "set-cookie" })
        }
        let stopped = try await served.receiver.stop()
        try stopped.expectOutput(of: "receive")
        #expect(try stopped.eventNames().prefix(2) == ["serving", "listening"])
    }

    @Test func `names of others stand in it as text only, and no script but its own may run`() async throws {
        let (phone, watch) = (try await desk.id(of: "phone"), try await desk.id(of: "watch"))
        try await desk.run("trust", phone, "--identity", "watch", "--name", Self.hostile, "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "-q").expectSuccess()
        let served = try await serve(into: "<img src=x>&", "--identity", "watch")
        try await desk.run("send", "Recipes.sqlite", "--to", served.receiver.address, "--identity", "phone")
            .expectSuccess()
        try await desk.waitUntil { try served.ask("/").body.contains("Recipes") }
        let page = try served.ask("/")
        #expect(page.body.contains("&lt;script&gt;alert(1)") && page.body.contains("&lt;img src=x&gt;&amp;"))
        #expect(!page.body.contains("<img") && page.body.components(separatedBy: "<script").count == 2)
        #expect(try objects(served.ask("/status.json"))[0]["producerName"] as? String == Self.hostile)
        let policy = try #require(page.fields["content-security-policy"])
        #expect(!policy.contains("unsafe") && policy.contains("connect-src 'self'"))
        for (name, tag) in [("script-src", "script"), ("style-src", "style")] {
            let start = try #require(page.body.range(of: "<\(tag)>")).upperBound
            let end = try #require(page.body.range(of: "</\(tag)>")).lowerBound
            let digest = Data(ContentDigest(hashing: page.body[start..<end].utf8).bytes).base64EncodedString()
            #expect(policy.contains("\(name) 'sha256-\(digest)'"))
        }
    }

    @Test func `health is bad from a failed shipment on until one succeeds`() async throws {
        let served = try await serve("--max-store", "1M")
        try await send("Recipes.sqlite", to: served)
        try desk.makeLargeStore()
        let soup = ["send", "Large.sqlite", "--name", "Soup", "--to", served.receiver.address]
        #expect(try await desk.run(soup).status == .exited(73))
        try await desk.waitUntil { try served.ask("/healthz").status == 503 }
        #expect(try served.ask("/healthz").body.hasPrefix("the last shipment of Soup failed: the store has "))
        let page = try served.ask("/").body
        #expect(page.contains("failing: Soup") && page.contains("<li>to do: allow more with --max-store</li>"))
        try desk.execute("DELETE FROM photo WHERE id > 3", in: "Large.sqlite")
        try await desk.run(soup).expectSuccess()
        try await desk.waitUntil { try served.ask("/healthz").status == 200 }
    }

    /// The answer to who asks within the same second is the one that there is.
    @Test func `the inbox is read once a second at most, and its loss is told`() async throws {
        let served = try await serve()
        try await send("Recipes.sqlite", to: served)
        try await desk.waitUntil { try served.ask("/status.json").body.contains("Recipes") }
        var (first, start) = (try served.ask("/").body, ContinuousClock.now)
        try await desk.waitUntil {
            let before = first
            (start, first) = (.now, try served.ask("/").body)
            return first != before
        }
        try PlatformCalls.rename(desk["inbox"], to: desk["away"])
        let again = try (0..<20).map { _ in try served.ask("/").body }
        if ContinuousClock.now - start < .milliseconds(900) { #expect(again == again.map { _ in first }) }
        try await desk.waitUntil { try served.ask("/healthz").status == 503 }
        #expect(try served.ask("/").body.contains("the inbox cannot be read"))
        let lost = try served.ask("/status.json")
        #expect(lost.status == 503 && lost.body.hasPrefix(#"{"error":""#))
    }

    // MARK: Whom it answers

    @Test func `whatever is no question of its own is refused`() async throws {
        let served = try await serve()
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONE"] {
            let answer = try served.ask("/", method)
            #expect(answer.status == (method == "NONE" ? 400 : 405), "\(method)")
            #expect(method == "NONE" || answer.fields["allow"] == "GET, HEAD")
        }
        for target in ["//", "/../", "/index.html", "http://127.0.0.1/", "*"] {
            #expect(try served.ask(target).status == 404, "\(target)")
        }
        for host in [
            "evil.example", "evil.example:\(served.port)", "127.0.0.1.evil.example", "", "127.0.0.1@evil.example",
        ] {
            #expect(try served.ask("/", fields: ["Host: \(host)"]).status == 421, "\(host)")
        }
        #expect(try served.ask("/", fields: []).status == 421)
        #expect(try served.ask("/", fields: ["Host: 127.0.0.1", "Host: evil.example"]).status == 421)
        for host in ["localhost", "LocalHost:1", "127.0.0.1:\(served.port)", "[::1]:1", "[::1]", "192.168.1.2"] {
            #expect(try served.ask("/", fields: ["Host: \(host)"]).status == 200, "\(host)")
        }
        #expect(try served.ask(raw: "nonsense\r\n\r\n").status == 400)
        #expect(try served.ask(raw: "\u{16}\u{03}\u{01}\u{02}\r\n\r\n").status == 400)
        let long = String(repeating: "a", count: 20_000)
        #expect(try served.ask("/", fields: ["Host: 127.0.0.1", "X: \(long)"]).status == 431)
        #expect(try served.ask("/" + long).status == 431)
        // What follows a question is not looked at.
        #expect(try served.ask("/", fields: ["Host: 127.0.0.1", "Content-Length: 20000", "", long]).status == 200)
        #expect(try served.ask("/healthz").body == "ok\n")
    }

    @Test func `those who dawdle keep nobody out, and are cut off`() async throws {
        let served = try await serve()
        let start = ContinuousClock.now
        var slow: [RawSocket] = []
        for _ in 0..<16 {
            slow.append(try RawSocket.connected(to: served.port))
            try slow.last?.write(Array("GET / HTTP/1.1\r\nHost".utf8))
        }
        // The first makes way for the next one.
        #expect(try served.ask("/healthz").status == 200)
        #expect(slow[0].readToEnd() == [])
        try await send("Recipes.sqlite", to: served)
        #expect(ContinuousClock.now - start < .seconds(4))
        let ended = slow[1...].count { !$0.isQuiet }
        #expect(ended == 0)
        // Who sends a byte now and then is no better off.
        while slow[15].isQuiet, ContinuousClock.now - start < .seconds(9) {
            try? slow[15].write([UInt8(ascii: ":")])
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect((.seconds(4.5)...(.seconds(9))).contains(ContinuousClock.now - start))
        let many = try (0..<200).map { _ in try RawSocket.connected(to: served.port) }
        #expect(try served.ask("/healthz").status == 200)
        #expect(try Folder.names(in: FilePath("/proc/\(served.receiver.program.processID)/fd")).count < 100)
        withExtendedLifetime(many) {}
        try await served.receiver.stop().expectSuccess()
    }

    // MARK: Where it is

    @Test func `it begins before the receiver is ready, or the receiver does not begin`() async throws {
        let served = try await serve()
        let address = "127.0.0.1:\(served.port)"
        let receive = ["receive", "--into", "other", "--listen", "127.0.0.1:0", "--serve"]
        try await desk.run(receive + [address]).expectFailure(
            69, "another program listens on \(address)", hint: "stop it, or choose another address")
        let bare = try await desk.run(receive + ["7646"])
        #expect(
            bare.status == .exited(64) && bare.stderr.contains("that is a port without a host, as in 127.0.0.1:7646"))
        for open in ["0.0.0.0:0", "[::]:0"] {
            try await desk.run(receive + [open]).expectFailure(
                64, "whoever reaches \(open), which is beyond this machine, could read the page of --serve",
                hint: "serve on 127.0.0.1, or say --serve-to-anyone")
        }
        #expect(try await desk.run(receive + ["unix:page.sock"]).status == .exited(64))
        #expect(try await desk.run(receive.dropLast() + ["--serve-to-anyone"]).status == .exited(64))
        let open = try await serve(on: "0.0.0.0:0", into: "other", "--serve-to-anyone")
        #expect(try open.ask("/healthz").status == 200)
        #expect(try await open.receiver.stop().stderr.contains("warning: --serve-to-anyone: whoever reaches "))
        let named = try await serve(on: "localhost:0", into: "third")
        #expect(try named.ask("/healthz").status == 200)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `it ends with the receiver`(signal: Int32) async throws {
        let served = try await serve()
        let idle = try RawSocket.connected(to: served.port)
        try await served.receiver.stop(signal).expectSuccess()
        #expect(idle.readToEnd() == [])
        #expect(throws: RawSocket.Failed.self) { _ = try RawSocket.connected(to: served.port) }
    }
}
