import Foundation
import SystemPackage
import TestSupport
import Testing

private let anotherRole = "with --role sender, receiver or relay if it is trusted in another role"

/// Two devices that trust each other, and others that they do not: all on one machine, each with a folder of its own.
@Suite struct TrustTests {
    private let desk: Desk
    private let (phone, watch, stranger): (String, String, String)

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        phone = try await desk.id(of: "phone")
        watch = try await desk.id(of: "watch")
        stranger = try await desk.id(of: "stranger")
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "--role", "receiver", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "stranger", "-q").expectSuccess()
    }

    private func send(
        as device: String, to address: String, _ more: String...
    ) async throws -> ChildProgram.Outcome {
        try await desk.run(["send", "Recipes.sqlite", "--to", address, "--identity", device] + more)
    }

    @Test func `a shipment arrives from a trusted device, also at an address for all`() async throws {
        let receiver = try await desk.listen(on: "0.0.0.0:0", "--identity", "watch")
        try await send(as: "phone", to: "127.0.0.1:\(receiver.port)").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try await send(as: "phone", to: "127.0.0.1:\(receiver.port)").expectSuccess()
        try await receiver.stop().expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `a stranger is turned away, and both sides say so`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await send(as: "stranger", to: receiver.address).expectFailure(
            77, "the other side does not trust this device (its id is \(stranger))",
            hint: "say `ship-store trust \(stranger)` there, \(anotherRole)")
        let stopped = try await receiver.stop()
        #expect(stopped.stderr.contains("the device at the other end is not trusted for this (its id is \(stranger))"))
        #expect(!stopped.stderr.contains("receiving"))
    }

    @Test func `a receiver that is a stranger gets nothing`() async throws {
        try await desk.run("trust", phone, "--identity", "stranger", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "stranger")
        try await send(as: "phone", to: receiver.address).expectFailure(
            77, "the device at the other end is not trusted for this (its id is \(stranger))",
            hint: "if it is the one that you mean, say `ship-store trust \(stranger)` here, \(anotherRole)")
        let stopped = try await receiver.stop()
        #expect(!stopped.stderr.contains("receiving"))
    }

    @Test func `who does not encrypt is told what is missing`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let plain = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address)
        plain.expectFailure(
            77, "the other side wants to know who this device is",
            hint:
                "trust each other first: `ship-store receive --into INBOX --pair` on one side and `ship-store send STORE --to ADDRESS --pair CODE` on "
                + "the other, or `ship-store trust ID` on both, with what `ship-store identity` says on the other")
        // Not a word to a stranger, not even which stores there are.
        let answer = try await RawSocket.exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8), with: receiver.port)
        #expect(answer.count < 16)
        let open = try await desk.listen(on: "127.0.0.1:0", into: "open")
        let secure = try await send(as: "phone", to: open.address)
        #expect(secure.status == .exited(77))
        #expect(
            secure.complaints.first
                == "ship-store: error: the other side does not encrypt, and does not say who it is")
    }

    @Test func `roles count`() async throws {
        // The watch may receive, and not send.
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "phone")
        let sent = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "watch")
        #expect(sent.status == .exited(77))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "receiver", "--no-role", "sender", "-q")
            .expectSuccess()
        let other = try await desk.listen(on: "127.0.0.1:0", into: "other", "--identity", "watch")
        #expect(try await send(as: "phone", to: other.address).status == .exited(77))
    }

    @Test func `a device sends and learns of only the stores that it may`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "a.shipment", "-q").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "a.shipment", "-q").expectSuccess()
        try await desk.run("trust", phone, "--identity", "watch", "--only-store", "Tea", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await send(as: "phone", to: receiver.address).expectFailure(
            77, "the receiver refused the shipment: the sender may not send Recipes here",
            hint:
                "ask the operator there to say `ship-store trust ID --role sender --store NAME`, with --role relay if it is passed "
                + "on, or --takes-over NAME if another device sent it before; on one machine, "
                + "`ship-store receive --into INBOX --unsigned` takes it")
        try await send(as: "phone", to: receiver.address, "--name", "Tea").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "--only-store", "Soup", "-q").expectSuccess()
        try await send(as: "phone", to: receiver.address, "--name", "Tea").expectFailure(
            77, "the receiver may not be sent Tea", hint: "`ship-store trust ID --role receiver --store Tea` lets it")
        try await receiver.stop().expectSuccess()
    }

    @Test func `a device that is trusted no more stays out, without a restart`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await send(as: "phone", to: receiver.address).expectSuccess()
        try await desk.run("distrust", phone, "--identity", "watch", "-q").expectSuccess()
        #expect(try await send(as: "phone", to: receiver.address).status == .exited(77))
        try await receiver.stop().expectSuccess()
    }

    @Test func `whoever has this device's key is this device`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "watch").expectSuccess()
    }

    @Test func `--once waits for somebody who may`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch", "--once")
        #expect(try await send(as: "stranger", to: receiver.address).status == .exited(77))
        try await send(as: "phone", to: receiver.address).expectSuccess()
        try await receiver.program.wait().expectSuccess()
    }

    @Test func `--json tells who was turned away`() async throws {
        let events = try desk.start(
            "receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--identity", "watch", "--json")
        let line = try await events.waitForLine(containing: "listening on ")
        let address = String(line.trimmingPrefix("listening on "))
        #expect(try await send(as: "stranger", to: address).status == .exited(77))
        _ = try await events.waitForLine(containing: "turned-away", on: .output)
        events.signal(SIGTERM)
        let told = try await events.wait().events().first { $0["event"] as? String == "turned-away" }
        #expect((told?["error"] as? String)?.contains(stranger) == true)
        #expect((told?["hint"] as? String)?.contains("ship-store trust \(stranger)") == true)
    }
}

/// Two people who tell each other six digits.
@Suite struct PairingCommandTests {
    @Test func `a code makes two devices trust each other, and the shipment arrives`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(
            on: "0.0.0.0:0", "--identity", "watch", "--pair", "--peer-name", "phone", "--once")
        let line = try await receiver.program.waitForLine(containing: "pairing code: ")
        let code = String(line.trimmingPrefix("pairing code: ").prefix(7))
        let address = "127.0.0.1:\(receiver.port)"
        let wrong = code == "000-000" ? "000-001" : "000-000"
        try await desk.run("send", "Recipes.sqlite", "--to", address, "--identity", "phone", "--pair", wrong)
            .expectFailure(
                77, "the two sides do not have the same code, or somebody stands in between",
                hint: "compare the codes; after five tries say --pair anew there")
        let sent = try await desk.run(
            "send", "Recipes.sqlite", "--to", address, "--identity", "phone", "--pair",
            code.replacing("-", with: " "), "--peer-name", "kitchen watch"
        ).expectSuccess()
        #expect(sent.stderr.contains("paired with kitchen watch: it may receive every store\n"))
        let received = try await receiver.program.wait().expectSuccess()
        #expect(received.stderr.contains("paired with phone: it may send every store\n"))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let again = try await desk.listen(on: "0.0.0.0:0", "--identity", "watch")
        try await desk.run("send", "Recipes.sqlite", "--to", "127.0.0.1:\(again.port)", "--identity", "phone")
            .expectSuccess()
    }

    /// What is typed into a terminal comes back from it.
    private func startOnTerminal(_ arguments: [String], on desk: Desk) throws -> ChildProgram {
        let spawn = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
        let lines = ["sh", "-c", "stty -onlcr; exec \"$@\"", "sh"]
        return try desk.start(arguments, through: ["python3", "-c", spawn] + lines, input: .pipe)
    }

    @Test func `whoever sits at a terminal is asked what to call the other device`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try startOnTerminal(
            ["receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--identity", "watch", "--pair", "--once"],
            on: desk)
        let long = String(repeating: "p", count: 65)
        await receiver.write(Array("\(long)\nphone of Ann\n".utf8))
        let listening = try await receiver.waitForLine(containing: "listening on ", on: .output)
        let code = try await receiver.waitForLine(containing: "pairing code: ", on: .output)
        let address = String(listening.split(separator: " ").last ?? "")
        let sender = try startOnTerminal(
            [
                "send", "Recipes.sqlite", "--to", address, "--identity", "phone", "--pair",
                String(code.trimmingPrefix("pairing code: ").prefix(7)),
            ], on: desk)
        // It keeps what the watch calls itself.
        await sender.write(Array("\n".utf8))
        let sent = try await sender.wait().expectSuccess()
        let question = "what to call the other device (return: what it calls itself): "
        #expect(sent.stdout.contains(question), "\(sent.stdout)")
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        #expect(sent.stdout.contains("paired with \(host): it may receive every store"), "\(sent.stdout)")
        let received = try await receiver.wait().expectSuccess()
        #expect(received.stdout.components(separatedBy: question).count == 3, "\(received.stdout)")
        #expect(received.stdout.contains("a device's name has 1 to 64 bytes"), "\(received.stdout)")
        #expect(received.stdout.contains("paired with phone of Ann: it may send every store"), "\(received.stdout)")
    }

    @Test func `the example of README works between two devices`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let readme = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .appending("README.md")
        let text = try String(contentsOfFile: readme.string, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Between devices\n").last)
        let lines = section.split(separator: "\n").filter { $0.hasPrefix("    ship-store ") }
            .map { $0.split(separator: " ").dropFirst().map(String.init) }
        try #require(lines.count >= 2)
        func words(_ line: [String], as device: String, _ changes: [String: String]) -> [String] {
            line.map { changes[$0] ?? $0 } + ["--identity", device]
        }
        let receiving = try desk.start(words(lines[0], as: "watch", ["0.0.0.0:7645": "0.0.0.0:0"]))
        let listening = try await receiving.waitForLine(containing: "listening on ")
        let code = try await receiving.waitForLine(containing: "pairing code: ").trimmingPrefix("pairing code: ")
        let address = "127.0.0.1:\(listening.split(separator: ":").last ?? "")"
        let changes = ["watch:7645": address, "482-913": String(code.prefix(7))]
        try await desk.run(words(lines[1], as: "phone", changes)).expectSuccess()
        // From then on without a code.
        let again = words(lines[1].filter { $0 != "--pair" && $0 != "482-913" }, as: "phone", changes)
        try await desk.run(again).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        receiving.signal(SIGTERM)
        try await receiving.wait().expectSuccess()
    }

    @Test func `where no code is waited for, none counts`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let phone = try await desk.id(of: "phone")
        try await desk.run("trust", try await desk.id(of: "other"), "--identity", "watch", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--pair", "123456"
        ).expectFailure(
            77, "the other side does not trust this device (its id is \(phone))",
            hint: "say `ship-store trust \(phone)` there, \(anotherRole)")
    }

    @Test(arguments: [
        (["receive", "--into", "a", "--pair", "--insecure"], "--pair and --insecure exclude each other"),
        (
            ["receive", "--into", "a", "--pair", "-q"],
            "--pair and --quiet exclude each other: the code has to be seen, or --json tells it"
        ),
        (["receive", "--into", "a", "--pair", "--from", "-"], "--pair goes over TCP only"),
        (["receive", "--into", "a", "--peer-name", "b"], "--peer-name says something only with --pair"),
        (["receive", "--into", "a", "--pair", "--listen", "unix:a"], "--pair goes over TCP only"),
        (["send", "a", "--to", "./a", "--pair", "123456"], "--pair goes over TCP only"),
        (
            ["send", "a", "--to", "b", "--pair", "12345"],
            "the value '12345' is invalid for '--pair <code>': a code has six digits, as in 482-913"
        ),
    ])
    func `what makes no sense is said`(arguments: [String], error: String) async throws {
        try await Desk().run(arguments).expectFailure(64, error, hint: "see `ship-store \(arguments[0]) --help`")
    }
}
