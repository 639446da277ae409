import Foundation
import TestSupport
import Testing

/// Other sides that fall silent, go, or stop half way: said within the timeout, and nothing is left behind.
@Suite struct SilentPeerTests {
    private static let silent = "the other side has been silent for too long"
    private static let ended = "the stream ended early: the shipment is not whole"
    private static let tryAgain = "check it and the network, then try again"
    private let desk: Desk

    init() throws { desk = try Desk() }

    /// - Parameter timeout: The option of the timeout that is to end it; the others are far off.
    private func send(
        _ store: String, to server: (socket: RawSocket, port: UInt16), timeout: String = "--idle-timeout"
    ) throws -> ChildProgram {
        try desk.start("send", store, "--to", "127.0.0.1:\(server.port)", timeout, "0.7")
    }

    private func listen(timeout: String = "--idle-timeout") async throws -> Receiver {
        try await desk.listen(on: "127.0.0.1:0", "--once", timeout, "0.7")
    }

    /// Runs `body` to a program's end by a timeout of 0.7 seconds; the next one is 10 seconds.
    private func expectInTime(_ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        #expect(.now - start < .seconds(9))
    }

    @Test func `a receiver that never greets`() async throws {
        try desk.makeStore()
        let server = try RawSocket.listening()
        try await expectInTime {
            try await send("Recipes.sqlite", to: server, timeout: "--hello-timeout").wait()
                .expectFailure(75, Self.silent, hint: Self.tryAgain)
        }
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver that greets, and then says nothing`() async throws {
        try desk.makeStore()
        let server = try RawSocket.listening()
        let sender = try send("Recipes.sqlite", to: server)
        let connection = try server.socket.accepted()
        try connection.write(Words.greeting)
        try await sender.wait().expectFailure(75, Self.silent, hint: Self.tryAgain)
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver that takes nothing any more`() async throws {
        try desk.makeLargeStore(megabytes: 16)
        let server = try RawSocket.listening()
        let sender = try send("Large.sqlite", to: server)
        let connection = try server.socket.accepted()
        try connection.takeOffer()
        let outcome = try await sender.wait()
        #expect(outcome.status == .exited(75))
        #expect(
            [Self.silent, "the other side takes nothing any more"].map { "ship-store: error: " + $0 }
                .contains(outcome.complaints.first ?? ""))
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver that goes`() async throws {
        try desk.makeStore()
        let server = try RawSocket.listening()
        let sender = try send("Recipes.sqlite", to: server)
        try server.socket.accepted().write(Words.greeting)
        let outcome = try await sender.wait()
        outcome.expectFailure(
            76, "the other side is gone: it closed the link", hint: "look for its own message, then try again")
        #expect(try desk.leftovers == [])
    }

    @Test func `a receiver that ends its side half way`() async throws {
        try desk.makeStore()
        let server = try RawSocket.listening()
        let sender = try send("Recipes.sqlite", to: server)
        let connection = try server.socket.accepted()
        try connection.takeOffer()
        connection.endWriting()
        let outcome = try await sender.wait()
        #expect(outcome.status == .exited(76))
        outcome.expectFailure(
            76, "the other side is gone: it closed the link", hint: "look for its own message, then try again")
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that never says a word`() async throws {
        let receiver = try await listen(timeout: "--hello-timeout")
        let connection = try RawSocket.connected(to: receiver.port)
        try await expectInTime {
            let line = try await receiver.program.waitForLine(containing: "turned away ")
            #expect(line.hasSuffix(": \(Self.silent)"))
        }
        _ = connection
        #expect(try desk.leftovers == [])
    }

    @Test func `a pipe into which nothing comes`() async throws {
        let receiver = try desk.start(
            "receive", "--into", "inbox", "--from", "-", "--hello-timeout", "0.7", input: .pipe)
        try await expectInTime {
            try await receiver.wait().expectFailure(75, Self.silent, hint: Self.tryAgain)
        }
    }

    @Test func `a sender that stops half way`() async throws {
        try desk.makeLargeStore()
        let half = Array(try await desk.shipment(of: "Large.sqlite").prefix(1_500_000))
        let receiver = try await listen()
        let connection = try RawSocket.connected(to: receiver.port)
        try connection.write(half)
        try await receiver.program.wait().expectFailure(75, Self.silent, hint: Self.tryAgain)
        _ = connection
        #expect(try desk.leftovers == [])
        try await desk.run(
            "receive", "--into", "inbox", "--from", "-", input: .bytes(desk.shipment(of: "Large.sqlite"))
        )
        .expectSuccess()
    }

    @Test(arguments: [true, false])
    func `a sender that ends its side half way`(hangsUp: Bool) async throws {
        try desk.makeLargeStore()
        let half = Array(try await desk.shipment(of: "Large.sqlite").prefix(1_500_000))
        if hangsUp {
            let receiver = try await desk.listen(on: "127.0.0.1:0")
            try RawSocket.connected(to: receiver.port).write(half)
            // Whoever hangs up while the receiver still greets may break the link before its bytes are read.
            let causes = [Self.ended, "the other side is gone: it closed the link"]
            let line = try await receiver.program.waitForLine(containing: "not installed: ")
            #expect(causes.contains { line.hasSuffix("not installed: " + $0) })
            try await receiver.stop().expectSuccess()
        } else {
            let receiver = try await listen()
            try await RawSocket.exchange(half, with: receiver.port)
            try await receiver.program.wait().expectFailure(76, Self.ended, hint: "send it again")
        }
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that is killed`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--once")
        try await desk.withLockedStore {
            let sender = try desk.start("send", "Locked.sqlite", "--to", receiver.address, "--busy-timeout", "60")
            _ = try await sender.waitForLine(containing: "connected to ")
            sender.signal(SIGKILL)
            #expect(try await sender.wait().status == .signalled(SIGKILL))
            try await receiver.program.wait().expectFailure(76, Self.ended, hint: "send it again")
        }
        try await desk.listen().stop().expectSuccess()
    }

    @Test func `a sender that is at work is waited for`() async throws {
        try await desk.withLockedStore {
            let receiver = try await listen()
            // Three times as long as the receiver would bear silence.
            try await desk.run(
                "send", "Locked.sqlite", "--to", receiver.address, "--busy-timeout", "2.1", "--idle-timeout", "0.6"
            ).expectFailure(
                75, "\(desk["Locked.sqlite"]) is locked by another program, and stayed so for 2.1 seconds",
                hint: "try again later, or wait longer with --busy-timeout")
            try await receiver.program.wait().expectFailure(
                75, "the sender gave up: the store cannot be copied", hint: "send again what has not arrived")
        }
    }
}
