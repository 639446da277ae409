import StoreFiles
import TestSupport
import Testing

/// Other sides that are not there, or that may not be called.
@Suite struct PeerErrorTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    private static let startOther =
        "start the other side there first: `ship-store receive --into INBOX`, or `ship-store send STORE --listen ADDRESS`"

    @Test func `nobody listens`() async throws {
        let free = try RawSocket.listening().port
        try await desk.run("send", "Recipes.sqlite", "--to", "127.0.0.1:\(free)").expectFailure(
            69, "nobody listens on 127.0.0.1:\(free)", hint: Self.startOther)
        let missing = try await desk.run("send", "Recipes.sqlite", "--to", "unix:none.sock")
        missing.expectFailure(
            69, "nobody listens on unix:none.sock", hint: Self.startOther)
        try await desk.run("receive", "--into", "inbox", "--from", "http://127.0.0.1:\(free)/kitchen").expectFailure(
            69, "nobody listens on http://127.0.0.1:\(free)",
            hint: "check the address, and start the web server, or the storage, there")
        #expect(try desk.leftovers == [])
    }

    @Test func `a name that does not resolve`() async throws {
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", "no-such-watch.invalid")
        #expect(outcome.status == .exited(69))
        #expect(
            outcome.complaints.first?.hasPrefix(
                "ship-store: error: the name no-such-watch.invalid cannot be resolved: ") == true)
        #expect(
            outcome.complaints.last
                == "ship-store: hint: check the name; a file is written ./NAME or NAME.shipment, a publication's folder dir:NAME"
        )
    }

    /// 192.0.2.0/24 answers nobody (RFC 5737): only what is refused before any packet ends well within the timeout.
    @Test func `beyond this machine is refused at once`() async throws {
        let hint =
            "trust each other first: `ship-store receive --into INBOX --pair` on one side and `ship-store send STORE --to ADDRESS --pair CODE` on the "
            + "other, or `ship-store trust ID` on both, with what `ship-store identity` says on the other; "
            + "say no --insecure then; or carry it over ssh with exec:"
        for (arguments, address) in [
            (["send", "Recipes.sqlite", "--to", "192.0.2.1"], "192.0.2.1:7645"),
            (["receive", "--into", "inbox", "--listen", "0.0.0.0:0"], "0.0.0.0:0"),
            (["receive", "--into", "inbox", "--from", "192.0.2.1:9"], "192.0.2.1:9"),
        ] {
            let start = ContinuousClock.now
            try await desk.run(arguments + ["--connect-timeout", "20"]).expectFailure(
                64, "\(address) is beyond this machine, and the link would not be encrypted", hint: hint)
            #expect(.now - start < .seconds(10))
        }
    }

    @Test func `--insecure is for this machine, and said`() async throws {
        let warning = "ship-store: warning: --insecure: nothing is encrypted, and nobody is asked who they are"
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--insecure")
        let sent = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--insecure")
        #expect(sent.status == .exited(0))
        #expect(sent.complaints == [warning])
        let stopped = try await receiver.stop()
        #expect(stopped.status == .exited(0))
        #expect(stopped.complaints == [warning])
        for arguments in [
            ["receive", "--into", "inbox", "--listen", "0.0.0.0:0"], ["send", "Recipes.sqlite", "--to", "192.0.2.1"],
        ] {
            let refused = try await desk.run(arguments + ["--insecure"])
            #expect(refused.status == .exited(64))
            #expect(refused.complaints.dropFirst().first?.contains("is beyond this machine") == true)
        }
    }

    @Test(arguments: [
        ("send Recipes.sqlite --to -", "a shipment is not fit for a terminal", "pipe it on, or name a file"),
        ("receive --into inbox --from -", "a shipment does not come from a terminal", "pipe it in, or name a file"),
    ])
    func `a terminal is refused`(arguments: String, error: String, hint: String) async throws {
        // script(1) gives a terminal; without it there is nothing to test.
        let outcome = try await desk.shell(
            "command -v script > /dev/null || exit 99; script -qec \"$SHIP \(arguments)\" /dev/null < /dev/null")
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(64))
        #expect(outcome.stdout == "ship-store: error: \(error)\r\nship-store: hint: \(hint)\r\n")
        #expect(try desk.leftovers == [])
    }
}
