import ShipTransport
import TestSupport
import Testing

/// Places of a listener that somebody tries to have for themselves.
@Suite struct ListenerPlacesTests {
    private let desk: Desk

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        let watch = try await desk.id(of: "watch")
        for device in ["phone", "tablet"] {
            try await desk.run("trust", watch, "--identity", device, "-q").expectSuccess()
        }
        try await trust("phone")
    }

    private func trust(_ device: String) async throws {
        try await desk.run(
            "trust", try await desk.id(of: device), "--identity", "watch", "--role", "sender", "-q"
        ).expectSuccess()
    }

    private func send(as device: String, to receiver: Receiver) async throws -> Duration {
        let start = ContinuousClock.now
        try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", device, "--name", device
        ).expectSuccess()
        return .now - start
    }

    /// Runs `body` while a device has so many links that say nothing.
    private func withLinks(
        _ count: Int, as device: String, to receiver: Receiver, _ body: () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await desk.withLink(as: device, to: receiver) { _ throws in
            try await withLinks(count - 1, as: device, to: receiver, body)
        }
    }

    @Test func `one device cannot take them all`() async throws {
        try await trust("tablet")
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", "--identity", "watch", "--max-connections", "4", "--hello-timeout", "60")
        _ = try await send(as: "tablet", to: receiver)
        try await withLinks(12, as: "phone", to: receiver) {
            let time = try await send(as: "tablet", to: receiver)
            #expect(time < .seconds(5))
            // Two of four, and the others wait.
            #expect(receiver.program.text(.error).split(separator: "\n").count { $0.contains("turned away") } == 0)
        }
        // Once they are gone, it ships itself.
        _ = try await send(as: "phone", to: receiver)
        try await receiver.stop().expectSuccess()
    }

    /// Strangers that say nothing, and a receiver that comes more often than there are places.
    @Test func `a sender that is flooded serves the receivers that it trusts`() async throws {
        for device in ["phone", "tablet"] {
            try await desk.run(
                "trust", try await desk.id(of: device), "--identity", "watch", "--role", "receiver", "-q"
            ).expectSuccess()
        }
        try await desk.run(
            "trust", try await desk.id(of: "watch"), "--identity", "tablet", "--role", "sender", "-q"
        ).expectSuccess()
        let program = try desk.start(
            "send", "Recipes.sqlite", "--listen", "127.0.0.1:0", "--identity", "watch", "--max-connections", "4",
            "--hello-timeout", "60", "--json")
        let line = try await program.waitForLine(containing: "listening on ")
        let sender = Receiver(program: program, address: String(line.trimmingPrefix("listening on ")))
        let crowd = try (0..<500).map { try RawSocket.connected(to: sender.port, from: UInt8(2 + $0 % 10)) }
        try await withLinks(12, as: "phone", to: sender) {
            let start = ContinuousClock.now
            try await desk.run(
                "receive", "--into", "inbox", "--from", sender.address, "--identity", "tablet"
            ).expectSuccess()
            #expect(.now - start < .seconds(5))
        }
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        _ = crowd
        // Nobody else had one taken.
        let events = try await sender.stop().events()
        #expect(events.count { $0["event"] as? String == "copied" } == 1)
    }

    @Test func `strangers who are there to pair take none`() async throws {
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", "--identity", "watch", "--max-connections", "2", "--hello-timeout", "60",
            "--max-unknown", "5", "--pair")
        try await withLinks(8, as: "tablet", to: receiver) {
            let time = try await send(as: "phone", to: receiver)
            #expect(time < .seconds(5))
        }
        let line = try await receiver.program.waitForLine(containing: "pairing code: ")
        let code = String(line.trimmingPrefix("pairing code: ").prefix(7))
        try await desk.run("distrust", try await desk.id(of: "phone"), "--identity", "watch", "-q").expectSuccess()
        // Who has shown nothing but a certificate gets no word, and ends nothing.
        try await desk.withLink(as: "tablet", to: receiver) { link throws in
            try? await link.writer.write([0x89, 0x53, 0x48, 0x49, 0x50, 0x0D, 0x0A, 0x1A], within: .seconds(10))
            let reader = link.reader
            let answer = try? await reader.next(within: .seconds(10))
            #expect(answer == nil)
        }
        try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "tablet", "--pair", code,
            "--name", "tablet"
        ).expectSuccess()
        try await receiver.stop().expectSuccess()
    }

    @Test func `who is trusted and says a code is told to leave it out`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--pair", "108-003"
        ).expectFailure(
            77, "the other side waits for no code, or for no more",
            hint:
                "leave --pair out if `ship-store peers` names the other side; or let it show a code first, with --pair")
    }

    @Test func `eight bytes of a stranger do not end what waits for one shipment`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch", "--pair", "--once")
        for words in [[0x89, 0x53, 0x48, 0x49, 0x50, 0x0D, 0x0A, 0x1A], Array("GET / HT".utf8), []] {
            try await desk.withLink(as: "tablet", to: receiver) { link throws in
                // It may be cut off before it has said all, or be told so by the end of the link.
                try? await link.writer.write(words, within: .seconds(10))
                try? await link.writer.finish()
                let reader = link.reader
                let answer = try? await reader.next(within: .seconds(10))
                #expect(answer == nil)
            }
        }
        let line = try await receiver.program.waitForLine(containing: "pairing code: ")
        try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "tablet", "--pair",
            String(line.trimmingPrefix("pairing code: ").prefix(7))
        ).expectSuccess()
        try await receiver.program.wait().expectSuccess()
    }
}
