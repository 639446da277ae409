import Foundation
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Trust that is given or taken while a listener listens and sessions run: what counts is the list as it is then.
@Suite struct ChangedTrustTests {
    private let desk: Desk
    private let (phone, watch): (String, String)

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        phone = try await desk.id(of: "phone")
        watch = try await desk.id(of: "watch")
        try await desk.run("trust", watch, "--identity", "phone", "-q").expectSuccess()
    }

    private func trust(_ more: String...) async throws {
        try await desk.run(["trust", phone, "--identity", "watch", "--name", "phone", "-q"] + more).expectSuccess()
    }

    private func distrust() async throws {
        try await desk.run("distrust", "phone", "--identity", "watch", "-q").expectSuccess()
    }

    private func send(to receiver: Receiver, _ more: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(["send", "Recipes.sqlite", "--to", receiver.address] + more)
    }

    private static let onlyTLS = "the other side wants to know who this device is"

    // MARK: The way in

    @Test func `a listener that began while nobody was trusted closes with the first trust, and stays closed`()
        async throws
    {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await send(to: receiver).expectSuccess()
        try await trust()
        let plain = try await send(to: receiver)
        #expect(plain.status == .exited(77) && plain.complaints.first == "ship-store: error: \(Self.onlyTLS)")
        try await send(to: receiver, "--identity", "phone").expectSuccess()
        try await distrust()
        for more in [[], ["--identity", "phone"]] {
            let sent = try await desk.run(["send", "Recipes.sqlite", "--to", receiver.address] + more)
            #expect(sent.status == .exited(77), "\(sent.stderr)")
        }
        try await receiver.stop().expectSuccess()
    }

    @Test func `also if the trust is taken back before anybody comes`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await trust()
        try await distrust()
        let plain = try await send(to: receiver)
        #expect(plain.status == .exited(77) && plain.complaints.first == "ship-store: error: \(Self.onlyTLS)")
        try await receiver.stop().expectSuccess()
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock"])
    }

    @Test func `a list that makes no sense lets nobody in`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await trust()
        try Data("{".utf8).write(to: URL(fileURLWithPath: desk["watch/peers.json"].string))
        #expect(try await send(to: receiver).status != .exited(0))
        let line = try await receiver.program.waitForLine(containing: "Z turned away 127.0.0.1:")
        #expect(line.hasSuffix("peers.json cannot be used: it is no list of trusted devices"))
        try await receiver.stop().expectSuccess()
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock"])
    }

    @Test func `a list that cannot be read keeps nobody away for good, and is named where it lies`() async throws {
        try await trust()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let list = desk["watch/peers.json"]
        try PlatformCalls.changeMode(of: list, to: [.ownerReadWrite, .groupRead, .otherRead])
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--retry", "60s")
        _ = try await receiver.program.waitForLine(containing: "peers.json")
        try PlatformCalls.changeMode(of: list, to: .ownerReadWrite)
        #expect(try await sender.wait().status == .exited(0))
        try await receiver.stop().expectSuccess()
    }

    // MARK: Sessions that run

    /// Expects that what comes over a link until now is refused in a second, and that the last of it changes nothing.
    private func expectEnd(
        of sender: RawSocket, _ receiver: Receiver, last: [UInt8], when change: () async throws -> Void
    ) async throws {
        _ = try await receiver.program.waitForLine(containing: "receiving Recipes")
        try await change()
        let start = ContinuousClock.now
        let answer = sender.readToEnd()
        #expect(.now - start < .seconds(1))
        #expect(String(decoding: answer, as: UTF8.self).contains(#""not-trusted""#))
        try? sender.write(last)
        try await receiver.stop().expectSuccess()
        #expect(try desk.leftovers == [])
        #expect(try await desk.run("list", "--into", "inbox").stdout == "")
    }

    @Test func `a session that does not say who it is ends with the first trust`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let shipment = try await desk.shipment()
        let sender = try RawSocket.connected(to: receiver.port)
        try sender.write(shipment.dropLast(18))
        try await expectEnd(of: sender, receiver, last: shipment.suffix(18)) { try await trust() }
    }

    @Test(arguments: [
        ["distrust", "phone"], ["trust", "phone", "--only-store", "Tea"], ["trust", "phone", "--no-role", "sender"],
    ])
    func `a session of a device ends in a second when it may ship no more`(change: [String]) async throws {
        try await trust()
        try await desk.run("send", "Recipes.sqlite", "--to", "./a.shipment", "--identity", "phone", "-q")
            .expectSuccess()
        let shipment = [UInt8](try Data(contentsOf: URL(fileURLWithPath: desk["a.shipment"].string)))
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.withLink(as: "phone", to: receiver) { link throws in
            try await link.writer.write(Array(shipment.dropLast(18)), within: .seconds(10))
            _ = try await receiver.program.waitForLine(containing: "receiving Recipes")
            try await desk.run(change + ["--identity", "watch", "-q"]).expectSuccess()
            let start = ContinuousClock.now
            #expect(try await link.refusal()?.code == "not-trusted")
            #expect(.now - start < .seconds(1))
            try? await link.writer.write(Array(shipment.suffix(18)), within: .seconds(1))
        }
        try await receiver.stop().expectSuccess()
        #expect(try desk.leftovers == [])
        #expect(try await desk.run("list", "--into", "inbox").stdout == "")
    }

    /// What the receiver does then it would do for a minute.
    @Test func `a session ends in a second also when all has come, and a question takes long`() async throws {
        try await trust()
        try await desk.run("trust", watch, "--identity", "phone", "-q").expectSuccess()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let receiver = try desk.start(
            "receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--identity", "watch", "--probe", endless, "--json"
        )
        let line = try await receiver.waitForLine(containing: "listening on ")
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", String(line.trimmingPrefix("listening on ")), "--identity", "phone")
        _ = try await receiver.waitForLine(containing: #""checked""#, on: .output)
        try await distrust()
        let start = ContinuousClock.now
        #expect(try await sender.wait().status == .exited(77))
        #expect(.now - start < .seconds(1.5))
        _ = try await receiver.waitForLine(containing: "not installed: ", timeout: .seconds(5))
        receiver.signal(SIGTERM)
        #expect(try await receiver.wait(timeout: .seconds(5)).status == .exited(0))
        #expect(try desk.leftovers == [])
    }

    @Test func `a session goes on when others are trusted or not, and with a store more`() async throws {
        try await trust("--store", "Locked")
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let sender = try await desk.withLockedStore {
            let sender = try desk.start(
                "send", "Locked.sqlite", "--to", receiver.address, "--busy-timeout", "60", "--identity", "phone")
            _ = try await sender.waitForLine(containing: "connected to ")
            let other = try await desk.id(of: "other")
            try await desk.run("trust", other, "--identity", "watch", "-q").expectSuccess()
            try await desk.run("distrust", other, "--identity", "watch", "-q").expectSuccess()
            try await trust("--store", "Tea")
            try await Task.sleep(for: .seconds(1))
            return sender
        }
        try await sender.wait().expectSuccess()
        try await receiver.stop().expectSuccess()
    }

    @Test(arguments: [["distrust", "watch"], ["trust", "watch", "--only-store", "Tea"]])
    func `a sender ends in a second when its receiver may be sent the store no more`(change: [String]) async throws {
        try await trust()
        try await desk.run("trust", watch, "--identity", "phone", "--name", "watch", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        try await desk.withLockedStore {
            let sender = try desk.start(
                "send", "Locked.sqlite", "--to", receiver.address, "--busy-timeout", "60", "--identity", "phone")
            _ = try await sender.waitForLine(containing: "connected to ")
            try await desk.run(change + ["--identity", "phone", "-q"]).expectSuccess()
            let start = ContinuousClock.now
            #expect(try await sender.wait().status == .exited(77))
            #expect(.now - start < .seconds(1.5))
        }
        let isKnown = change.first == "trust"
        let line = try await receiver.program.waitForLine(containing: "not installed: the sender gave up")
        #expect(line.contains("this device is not trusted there") != isKnown)
        try await receiver.stop().expectSuccess()
    }

    /// All of the large one would take 25 s, and a frame of it 2.6 s.
    @Test func `a store that its receiver may have no more stops, and the others of the session go`() async throws {
        try await trust()
        try await desk.run("trust", watch, "--identity", "phone", "--name", "watch", "-q").expectSuccess()
        try desk.makeLargeStore(megabytes: 10)
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let sender = try desk.start(
            "send", "Large.sqlite", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone",
            "--limit-rate", "400k")
        _ = try await receiver.program.waitForLine(containing: "receiving Large")
        try await desk.run("trust", "watch", "--only-store", "Recipes", "--identity", "phone", "-q").expectSuccess()
        let start = ContinuousClock.now
        #expect(try await sender.wait().status == .exited(77))
        #expect(.now - start < .seconds(15))
        try await receiver.stop().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try Folder.names(in: desk["inbox"]).contains("Large.sqlite") == false)
    }

    @Test func `a store that has not changed and may go no more holds up no other one`() async throws {
        try await trust()
        try await desk.run("trust", watch, "--identity", "phone", "--name", "watch", "-q").expectSuccess()
        try desk.makeStore("Tea.sqlite")
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let send = ["send", "Tea.sqlite", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone"]
        try await desk.run(send).expectSuccess()
        try await desk.run("trust", "watch", "--only-store", "Recipes", "--identity", "phone", "-q").expectSuccess()
        try desk.execute("INSERT INTO recipe(title) VALUES ('Pie')", in: "Recipes.sqlite")
        #expect(try await desk.run(send).status == .exited(77))
        try await receiver.stop().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a shipment from a pipe does not outlive the trust in who has signed it`() async throws {
        try await trust()
        try await desk.run("send", "Recipes.sqlite", "--to", "./a.shipment", "--identity", "phone", "-q")
            .expectSuccess()
        let shipment = [UInt8](try Data(contentsOf: URL(fileURLWithPath: desk["a.shipment"].string)))
        let receiver = try desk.start(
            "receive", "--into", "inbox", "--from", "-", "--identity", "watch", input: .pipe)
        await receiver.write(shipment.dropLast(18))
        _ = try await receiver.waitForLine(containing: "receiving Recipes")
        // The only one that is trusted: that nobody is any more lets nothing in.
        try await distrust()
        let start = ContinuousClock.now
        try await receiver.wait().expectFailure(
            77, "the device that signed this shipment is not trusted to send (its id is \(phone))",
            hint:
                "if it is the one that you mean, say `ship-store trust \(phone) --role sender`; --unsigned takes it all the same"
        )
        #expect(.now - start < .seconds(1.5))
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: ["watch", "phone"])
    func `who follows is ended when either side takes its trust back, although nothing is sent`(
        side: String
    ) async throws {
        try await trust()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--follow")
        _ = try await sender.waitForLine(containing: "installed Recipes")
        let other = side == "watch" ? "phone" : watch
        try await desk.run("distrust", other, "--identity", side, "-q").expectSuccess()
        let outcome = try await sender.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(77), "\(outcome.stderr)")
        try await receiver.stop().expectSuccess()
    }
}
