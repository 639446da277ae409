import ShipTransport
import SystemPackage
import Testing

@Suite struct `An endpoint` {
    @Test(arguments: [
        ("-", Endpoint.standardStreams),
        ("watch", .tcp(host: "watch", port: 7645)),
        ("watch.local", .tcp(host: "watch.local", port: 7645)),
        ("10.0.0.2", .tcp(host: "10.0.0.2", port: 7645)),
        ("127.0.0.1:7000", .tcp(host: "127.0.0.1", port: 7000)),
        ("[::1]", .tcp(host: "::1", port: 7645)),
        ("[::1]:7000", .tcp(host: "::1", port: 7000)),
        ("[fe80::1%eth0]:7000", .tcp(host: "fe80::1%eth0", port: 7000)),
        ("tcp:backup.shipment", .tcp(host: "backup.shipment", port: 7645)),
        ("backup.shipment:7000", .tcp(host: "backup.shipment", port: 7000)),
        ("backup.shipment", .file("backup.shipment")),
        ("./watch", .file("./watch")),
        ("/dev/null", .file("/dev/null")),
        ("dir/a:b", .file("dir/a:b")),
        ("file:watch", .file("watch")),
        ("unix:/run/ship", .unix("/run/ship")),
        ("unix:ship", .unix("ship")),
        (
            "exec:ssh watch ship-store receive --into /inbox --from -",
            .command("ssh watch ship-store receive --into /inbox --from -")
        ),
    ])
    func `is read as its help says`(text: String, endpoint: Endpoint) throws {
        #expect(try Endpoint(text) == endpoint)
    }

    @Test(arguments: [
        ("", EndpointError.empty("")),
        ("unix:", .empty("unix:")),
        ("exec:", .empty("exec:")),
        ("a\u{0}b", .containsNUL),
        (":7645", .badHost("")),
        ("my watch", .badHost("my watch")),
        ("-x", .badHost("-x")),
        ("watch:", .badPort("")),
        ("s3:", .badURL("s3:")),
        ("watch:0", .badPort("0")),
        ("watch:65536", .badPort("65536")),
        ("watch:+80", .badPort("+80")),
        ("[::1]7645", .badPort("7645")),
        ("[watch]:1", .badHost("watch")),
        ("[::1", .badHost("[::1")),
        ("::1", .needsBrackets("::1")),
        ("fe80::1:7645", .needsBrackets("fe80::1:7645")),
        ("7645", .onlyAPort("7645")),
    ])
    func `that is none is refused with the reason`(text: String, reason: EndpointError) {
        #expect(throws: reason) { try Endpoint(text) }
    }

    @Test func `to listen on is TCP or a Unix socket, port 0 included`() throws {
        #expect(try Endpoint("127.0.0.1:0", toListen: true) == .tcp(host: "127.0.0.1", port: 0))
        #expect(try Endpoint("unix:/s", toListen: true) == .unix("/s"))
        #expect(throws: EndpointError.cannotListen(.standardStreams)) { try Endpoint("-", toListen: true) }
        #expect(throws: EndpointError.cannotListen(.file("./x"))) { try Endpoint("./x", toListen: true) }
        #expect(throws: EndpointError.cannotListen(.command("x"))) { try Endpoint("exec:x", toListen: true) }
    }

    @Test(arguments: [
        Endpoint.standardStreams, .unix("a b"), .command("a | b"), .file("watch"), .file("/a/b"), .file("unix:/a"),
        .file("-"), .file("x.shipment"), .tcp(host: "::1", port: 1), .tcp(host: "unix", port: 2),
        .tcp(host: "a", port: 0),
    ])
    func `prints as a text that means the same`(endpoint: Endpoint) throws {
        let text = endpoint.description
        let again = (try? Endpoint(text)) ?? (try? Endpoint(text, toListen: true))
        #expect(again == endpoint, "\(text)")
    }
}
