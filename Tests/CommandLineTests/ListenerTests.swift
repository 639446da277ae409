import Foundation
import StoreFiles
import TestSupport
import Testing

/// A receiver that listens, and senders that call it.
@Suite struct ListenerTests {
    @Test(arguments: ["127.0.0.1:0", "localhost:0", "[::1]:0", "unix:watch.sock"])
    func `the announced address is the one to send to`(address: String) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(on: address)
        let sent = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        #expect(sent.stderr.contains("installed Recipes as generation 1: sent "))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let stopped = try await receiver.stop().expectSuccess()
        #expect(stopped.stderr.contains("installed Recipes, generation 1, in "))
        #expect(try desk.leftovers == [])
        #expect((try? PlatformCalls.status(of: desk["watch.sock"])) == nil)
    }

    @Test func `--once ends with the status of the one session`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let good = try await desk.listen(on: "127.0.0.1:0", "--once")
        try await desk.run("send", "Recipes.sqlite", "--to", good.address).expectSuccess()
        try await good.program.wait().expectSuccess()
        let bad = try await desk.listen(on: "127.0.0.1:0", "--once")
        try await RawSocket.exchange(Array(try await desk.shipment().prefix(300)), with: bad.port)
        try await bad.program.wait().expectFailure(
            76, "the stream ended early: the shipment is not whole", hint: "send it again")
    }

    @Test func `--once is not ended by those who begin no shipment`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--once", "--hello-timeout", "0.7")
        try await RawSocket.exchange([], with: receiver.port)
        _ = try await receiver.program.waitForLine(containing: ": the stream ended early")
        try await RawSocket.exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8), with: receiver.port)
        _ = try await receiver.program.waitForLine(containing: ": this is no ship-store stream")
        try await RawSocket.exchange(Array(try await desk.shipment().prefix(15)), with: receiver.port)
        let silent = try RawSocket.connected(to: receiver.port)
        _ = try await receiver.program.waitForLine(containing: ": the other side has been silent for too long")
        // Whoever is there when the shipment is over is not waited for.
        let other = try RawSocket.connected(to: receiver.port)
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        let ended = try await receiver.program.wait(timeout: .seconds(5)).expectSuccess()
        #expect(ended.stderr.split(separator: "\n").count { $0.hasPrefix("turned away 127.0.0.1:") } >= 4)
        _ = (silent, other)
    }

    @Test func `it goes on after sessions that failed`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let shipment = try await desk.shipment()
        let receiver = try await desk.listen()
        try await RawSocket.exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8), with: receiver.port)
        _ = try await receiver.program.waitForLine(containing: "not installed: this is no ship-store stream")
        try await RawSocket.exchange(Array(shipment.prefix(300)), with: receiver.port)
        _ = try await receiver.program.waitForLine(containing: "not installed: the stream ended early")
        var damaged = shipment
        damaged[shipment.count / 2] ^= 1
        try await RawSocket.exchange(damaged, with: receiver.port)
        _ = try await receiver.program.waitForLine(containing: "not installed: bytes were damaged on the way")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
        try await receiver.stop(SIGINT).expectSuccess()
    }

    @Test func `two stores come side by side`() async throws {
        let desk = try Desk()
        try desk.makeStore("Tea.sqlite")
        let receiver = try await desk.listen()
        // While the first sender cannot go on, the second one is served.
        try await desk.withLockedStore("Soup.sqlite") {
            let first = try desk.start("send", "Soup.sqlite", "--to", receiver.address, "--busy-timeout", "60")
            _ = try await first.waitForLine(containing: "connected to ")
            try await desk.run("send", "Tea.sqlite", "--to", receiver.address).expectSuccess()
            first.signal(SIGTERM)
            #expect(try await first.wait().status == .exited(143))
        }
        try await desk.run("send", "Soup.sqlite", "--to", receiver.address).expectSuccess()
        #expect(try desk.hasInstalled("Soup", from: "Soup.sqlite"))
        #expect(try desk.hasInstalled("Tea", from: "Tea.sqlite"))
        try await receiver.stop().expectSuccess()
    }

    @Test func `one store comes from several at the same time, one after the other`() async throws {
        let desk = try Desk()
        try desk.makeLargeStore("Large.sqlite", megabytes: 1)
        let receiver = try await desk.listen()
        let senders = try (0..<3).map { number in
            try desk.start(
                "send", "Large.sqlite", "--to", receiver.address, "--meta", "sender=\(number)", "--json", "--quiet")
        }
        var generations: [Int] = []
        for sender in senders {
            let outcome = try await sender.wait().expectSuccess()
            let events = try outcome.events()
            let receipt = try #require(events.last?["receipt"] as? [String: Any])
            generations.append(try #require(receipt["generation"] as? Int))
        }
        #expect(generations.allSatisfy { (1...3).contains($0) } && generations.contains(1))
        try await desk.run("verify", "inbox").expectSuccess()
        #expect(try desk.leftovers == [])
        try await receiver.stop().expectSuccess()
    }

    @Test func `the address is in use`() async throws {
        let desk = try Desk()
        let receiver = try await desk.listen()
        try await desk.run("receive", "--into", "another", "--listen", receiver.address).expectFailure(
            69, "another program listens on \(receiver.address)",
            hint: "stop it, or choose another address")
        let socket = try await desk.listen(on: "unix:watch.sock", into: "third")
        try await desk.run("receive", "--into", "another", "--listen", socket.address).expectFailure(
            69, "another program listens on unix:watch.sock",
            hint: "stop it, or choose another address")
    }

    @Test func `the default port is told`() async throws {
        let help = try await Desk().run("receive", "--help")
        #expect(help.stdout.contains("(default: 127.0.0.1:7645)"))
        #expect(try await Desk().run("--help").stdout.contains("--to 127.0.0.1:7645"))
    }
}
