import DeviceTrust
import Foundation
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Passing on for as long as something comes, to whoever waits for it.
@Suite(.serialized) struct FollowedRelayTests {
    private let devices: RelayDevices

    init() async throws { devices = try await RelayDevices() }

    @Test func `a copy that was passed on has no age`() async throws {
        let second = try await devices.watchListens()
        let first = try await devices.tabletListens()
        let sender = try devices.desk.start(
            "send", "Recipes.sqlite", "--to", first.address, "--identity", "phone", "--relay", "--follow")
        try await devices.desk.arrives("Recipes", in: "tablet-inbox", from: "Recipes.sqlite")
        let relay = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow", "--json")
        for title in ["a", "b", "c"] {
            try devices.change(title)
            try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        }
        #expect(
            FileManager.default.fileExists(atPath: devices.desk["tablet-inbox/.ship-store/Recipes/asof.json"].string))
        #expect(
            !FileManager.default.fileExists(atPath: devices.desk["watch-inbox/.ship-store/Recipes/asof.json"].string))
        sender.signal(SIGTERM)
        #expect(try await sender.wait(timeout: .seconds(20)).status == .exited(0))
        relay.signal(SIGTERM)
        let passed = try await relay.wait(timeout: .seconds(20))
        #expect(passed.status == .exited(0))
        // The certificate went with the first one alone.
        let bytes = try devices.wire(passed)
        #expect(bytes < 600, "\(bytes)")
        _ = try await first.stop()
        _ = try await second.stop()
        #expect(try devices.desk.leftovers == [])
    }

    @Test func `who follows waits for what is signed`() async throws {
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        try await devices.ship(to: first, "--no-remember").expectSuccess()
        let relay = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow")
        _ = try await relay.waitForLine(containing: "came without a signature")
        try devices.change()
        try await devices.ship(to: first).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        for program in [relay, first.program, second.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
    }

    @Test func `what comes into the inbox later goes on, too`() async throws {
        let second = try await devices.watchListens()
        let relay = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow")
        _ = try await relay.waitForLine(containing: "there is no store in tablet-inbox yet: what comes is passed on")
        let first = try await devices.tabletListens()
        try await devices.ship(to: first).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        try devices.desk.makeStore("Tea.sqlite", rows: 20)
        let tea = ["send", "Tea.sqlite", "--to", first.address, "--identity", "phone", "--relay"]
        try await devices.desk.run(tea).expectSuccess()
        try await devices.desk.arrives("Tea", in: "watch-inbox", from: "Tea.sqlite")
        // What is forgotten there stays here, and goes on when it comes again.
        try await devices.desk.run("forget", "Tea", "--into", "tablet-inbox", "-q").expectSuccess()
        try devices.change()
        try await devices.ship(to: first).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        #expect(try devices.desk.hasInstalled("Tea", in: "watch-inbox", from: "Tea.sqlite"))
        try devices.desk.execute("INSERT INTO recipe(title) VALUES ('green')", in: "Tea.sqlite")
        try await devices.desk.run(tea).expectSuccess()
        try await devices.desk.arrives("Tea", in: "watch-inbox", from: "Tea.sqlite")
        for program in [relay, first.program, second.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
        #expect(try devices.desk.leftovers == [])
    }

    @Test func `with --retry what is not in the inbox yet is waited for`() async throws {
        let second = try await devices.watchListens()
        let relay = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--to", second.address, "--identity", "tablet", "--retry",
            "60s")
        _ = try await relay.waitForLine(containing: "trying again")
        let first = try await devices.tabletListens()
        try await devices.ship(to: first).expectSuccess()
        #expect(try await relay.wait().status == .exited(0))
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        for receiver in [first, second] { _ = try await receiver.stop() }
    }

    @Test func `who comes for a store waits until it is there, and gets no other`() async throws {
        let program = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--listen", "127.0.0.1:0", "--identity", "tablet", "--follow",
            "--json")
        _ = try await program.waitForLine(
            containing: "there is no Recipes in tablet-inbox yet: what comes is passed on")
        let line = try await program.waitForLine(containing: "listening on ")
        let address = String(line.trimmingPrefix("listening on "))
        let once = try await devices.desk.run(
            "receive", "--into", "watch-inbox", "--from", address, "--identity", "watch")
        once.expectFailure(
            75, "the sender gave up: no store has come there yet", hint: "send again what has not arrived")
        let receiver = try devices.desk.start(
            "receive", "--into", "watch-inbox", "--from", address, "--identity", "watch", "--follow")
        let first = try await devices.tabletListens()
        try devices.desk.makeStore("Tea.sqlite", rows: 20)
        try await devices.desk.run("send", "Tea.sqlite", "--to", first.address, "--identity", "phone", "--relay")
            .expectSuccess()
        try await devices.ship(to: first).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        #expect(!FileManager.default.fileExists(atPath: devices.desk["watch-inbox/.ship-store/Tea"].string))
        for program in [receiver, first.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
        program.signal(SIGTERM)
        let outcome = try await program.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(0))
        let awaits = try outcome.events().filter { $0["event"] as? String == "awaits" }
        #expect(awaits.count == 1 && awaits.first?["names"] as? [String] == ["Recipes"])
    }

    @Test func `what comes into an inbox that was not there goes on at once`() async throws {
        let program = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "--listen", "127.0.0.1:0", "--identity", "tablet", "--follow")
        let line = try await program.waitForLine(containing: "listening on ")
        let receiver = try devices.desk.start(
            "receive", "--into", "watch-inbox", "--from", String(line.trimmingPrefix("listening on ")), "--identity",
            "watch", "--follow")
        _ = try await program.waitForLine(containing: "connected")
        let first = try await devices.tabletListens()
        try await devices.ship(to: first).expectSuccess()
        // A look without a notice comes after 10 s.
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite", within: 8)
        for program in [receiver, program, first.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
    }

    @Test func `receivers come for what an inbox holds, and hear of each change`() async throws {
        try await devices.trust(devices.tablet, by: "watch", as: "relay")
        let first = try await devices.tabletListens()
        try await devices.ship(to: first).expectSuccess()
        let program = try devices.desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--listen", "127.0.0.1:0", "--identity", "tablet", "--follow")
        let line = try await program.waitForLine(containing: "listening on ")
        let address = String(line.trimmingPrefix("listening on "))
        let receiver = try devices.desk.start(
            "receive", "--into", "watch-inbox", "--from", address, "--identity", "watch", "--follow")
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        try devices.change()
        try await devices.ship(to: first).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        // The tablet goes back: the watch does not, and the tablet goes on with the next one.
        _ = try await first.stop()
        try await devices.desk.run("rollback", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        _ = try await program.waitForLine(containing: "has come already")
        receiver.signal(SIGTERM)
        #expect(try await receiver.wait(timeout: .seconds(20)).status == .exited(0))
        // Who comes only now hears that the relay is behind, and who follows waits for it.
        let late = ["receive", "--into", "watch-inbox", "--from", address, "--identity", "watch"]
        let behind = "the relay is behind: Recipes is passed on with the number 1, and 2 has come already"
        try await devices.desk.run(late).expectFailure(
            77, behind, hint: "what is newer is here; to wait until the relay has caught up, say --follow")
        let waiting = try devices.desk.start(late + ["--follow"])
        _ = try await waiting.waitForLine(containing: behind)
        try await devices.desk.run("rollback", "Recipes", "--into", "tablet-inbox", "--release", "-q").expectSuccess()
        let again = try await devices.tabletListens()
        try devices.change("after")
        try await devices.ship(to: again).expectSuccess()
        try await devices.desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        for program in [waiting, program, again.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
        #expect(try devices.desk.leftovers == [])
    }
}
