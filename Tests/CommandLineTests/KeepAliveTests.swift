import Foundation
import ShipProtocol
import TestSupport
import Testing

/// Other sides that say that they are at work for ever, over a socket.
@Suite struct KeepAliveTests {
    private let desk: Desk
    private let working: [UInt8]

    init() throws {
        desk = try Desk()
        try desk.makeStore()
        working = try Frame.working.serialized()
    }

    /// Says it ten times a second, until the other side takes it no more.
    private func keepAlive(_ socket: RawSocket) -> Task<Void, any Error> {
        Task { [working] in
            while true {
                try socket.write(working)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// The first words of a sender that awaits answers: its preamble, and the manifest of the store if it has got so far.
    private func opening(withManifest: Bool) async throws -> [UInt8] {
        let preamble = Preamble(role: .producer, mode: .twoWay).encoded
        guard withManifest else { return preamble }
        let frames = try await desk.shipment().dropFirst(Preamble.size)
        let length = frames.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return preamble + frames.prefix(5 + length + 4)
    }

    @Test func `a sender that never comes to its manifest`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--once", "--prepare-timeout", "1")
        let sender = try RawSocket.connected(to: receiver.port)
        try sender.write(try await opening(withManifest: false))
        let keeping = keepAlive(sender)
        defer { keeping.cancel() }
        try await receiver.program.wait(timeout: .seconds(20)).expectFailure(
            75, "the sender is still preparing the store after 1 s",
            hint: "look at the sender; a receiver may wait longer with --prepare-timeout")
        // It is told why.
        #expect(String(decoding: sender.readToEnd(), as: UTF8.self).contains("timed-out"))
    }

    /// What is left of the first one takes twice as long as a sender may prepare.
    @Test func `and not one that still sends what was refused`() async throws {
        try desk.makeLargeStore(megabytes: 1)
        let outcome = try await desk.bash(
            """
            set +e
            $SHIP send Large.sqlite Recipes.sqlite --to - --limit-rate 150k |
                $SHIP receive --into inbox --from - --max-store 100k --prepare-timeout 3
            echo "${PIPESTATUS[0]}"
            """)
        #expect(outcome.stdout == "0\n", "\(outcome.stderr)")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a receiver that never answers`() async throws {
        let server = try RawSocket.listening()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", "127.0.0.1:\(server.port)", "--work-timeout", "1", "--idle-timeout", "1")
        let connection = try server.socket.accepted()
        try connection.write(Words.greeting)
        let keeping = keepAlive(connection)
        defer { keeping.cancel() }
        let outcome = try await sender.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(75))
        #expect(outcome.complaints.first?.hasPrefix("ship-store: error: the receiver has not said for 2 s") == true)
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver that has everything, and installs nothing`() async throws {
        let server = try RawSocket.listening()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", "127.0.0.1:\(server.port)", "--work-timeout", "1")
        let connection = try server.socket.accepted()
        try connection.takeOffer()
        let keeping = keepAlive(connection)
        defer { keeping.cancel() }
        let outcome = try await sender.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(75))
        #expect(
            outcome.complaints.first?.hasPrefix("ship-store: error: the receiver has had everything for 1 s") == true)
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that has its turn, and does nothing with it, does not keep the next waiting for ever`()
        async throws
    {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--work-timeout", "1")
        let first = try RawSocket.connected(to: receiver.port)
        try first.write(try await opening(withManifest: true))
        let keeping = keepAlive(first)
        defer { keeping.cancel() }
        _ = try await receiver.program.waitForLine(containing: "receiving Recipes")
        try await Task.sleep(for: .milliseconds(300))
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--meta", "other=1")
        #expect(outcome.status == .exited(75))
        #expect(outcome.stderr.contains("somebody else has been changing Recipes for 1.0"))
        try await receiver.stop().expectSuccess()
    }

    /// Its place among those that may be connected is somebody else's then.
    @Test func `a sender that goes while it waits for its turn is not waited for`() async throws {
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", "--work-timeout", "600", "--idle-timeout", "1", "--max-connections", "2")
        let opening = try await opening(withManifest: true)
        let first = try RawSocket.connected(to: receiver.port)
        try first.write(opening)
        let keeping = keepAlive(first)
        defer { keeping.cancel() }
        _ = try await receiver.program.waitForLine(containing: "receiving Recipes")
        do {
            let second = try RawSocket.connected(to: receiver.port)
            try second.write(opening)
            try await Task.sleep(for: .milliseconds(500))
        }
        _ = try await receiver.program.waitForLine(containing: "not installed: the other side is gone")
        try desk.makeStore("Tea.sqlite")
        try await desk.run("send", "Tea.sqlite", "--to", receiver.address).expectSuccess()
        try await receiver.stop().expectSuccess()
    }
}
