import DeviceTrust
import Foundation
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A phone ships to a tablet, and the tablet passes on to a watch, which trusts the phone for the store, and the tablet with the delivery.
@Suite(.serialized) struct RelayTests {
    private let desk: Desk
    private let phone: String
    private let tablet: String
    private let watch: String

    init() async throws {
        desk = try Desk()
        try desk.makeStore(rows: 500)
        (phone, tablet) = (try await desk.id(of: "phone"), try await desk.id(of: "tablet"))
        watch = try await desk.id(of: "watch")
        try await trust(tablet, by: "phone", as: "receiver")
        try await trust(phone, by: "tablet", as: "sender")
        try await trust(watch, by: "tablet", as: "receiver")
        try await trust(phone, by: "watch", as: "sender")
        try await trust(tablet, by: "watch", as: "relay")
    }

    private func trust(
        _ id: String, by device: String, as role: String, notAs former: String? = nil
    ) async throws {
        try await desk.run(
            ["trust", id, "--identity", device, "--role", role, "-q"] + (former.map { ["--no-role", $0] } ?? [])
        ).expectSuccess()
    }

    private func change(_ title: String = "new") throws {
        try desk.execute("INSERT INTO recipe(title) VALUES ('\(title)')", in: "Recipes.sqlite")
    }

    /// Brings the store to the tablet, signed for others.
    private func ship(to receiver: Receiver, _ options: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(
            ["send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--json"]
                + (options.isEmpty ? ["--relay"] : options))
    }

    /// Passes on what the tablet has.
    private func pass(to receiver: Receiver, as device: String = "tablet") async throws -> ChildProgram.Outcome {
        try await desk.run(
            "send", "--inbox", "tablet-inbox", "Recipes", "--to", receiver.address, "--identity", device, "--json")
    }

    private func tabletListens() async throws -> Receiver {
        try await desk.listen(into: "tablet-inbox", "--identity", "tablet", "--relay")
    }

    private func watchListens() async throws -> Receiver {
        try await desk.listen(into: "watch-inbox", "--identity", "watch")
    }

    private func wire(_ outcome: ChildProgram.Outcome) throws -> Int {
        try #require(try outcome.events().last { $0["event"] as? String == "finished" }?["wire"] as? Int)
    }

    @Test func `what came over TLS goes on, with its number, and one changed row as a few bytes`() async throws {
        let (first, second) = (try await tabletListens(), try await watchListens())
        try await ship(to: first).expectSuccess()
        let whole = try await pass(to: second)
        whole.expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        try change()
        let direct = try await ship(to: first)
        direct.expectSuccess()
        let relayed = try await pass(to: second)
        relayed.expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // The row, the manifest and the signature.
        let (wholeBytes, directBytes, bytes) = (try wire(whole), try wire(direct), try wire(relayed))
        #expect(bytes < 1500, "\(wholeBytes), \(directBytes) and \(bytes)")
        #expect(bytes < wholeBytes)
        // The number is the phone's, and the generation is known to have come by the tablet.
        #expect(try counter(in: "watch-inbox") == counter(in: "tablet-inbox"))
        let (origin, phoneDigest) = (try origin(in: "watch-inbox"), try digest(of: "phone"))
        let tabletDigest = try digest(of: "tablet")
        #expect(origin["producer"] as? String == phoneDigest)
        #expect(origin["relay"] as? String == tabletDigest)
        // What the watch has already costs a few bytes.
        let again = try await pass(to: second)
        again.expectSuccess()
        let unchanged = "unchanged: the receiver has Recipes already, as generation 2"
        #expect(again.stderr.contains(unchanged), "\(again.stderr)")
        _ = try await first.stop()
        _ = try await second.stop()
        #expect(try desk.leftovers == [])
    }

    @Test func `what came in a signed file goes on`() async throws {
        let second = try await watchListens()
        try await desk.run("send", "Recipes.sqlite", "--to", "./1.shipment", "--identity", "phone").expectSuccess()
        try change()
        try await desk.run(
            "send", "Recipes.sqlite", "--since", "1.shipment", "--to", "./2.shipment", "--identity", "phone"
        ).expectSuccess()
        for file in ["1", "2"] {
            try await desk.run(
                "receive", "--into", "tablet-inbox", "--from", "./\(file).shipment", "--identity", "tablet"
            ).expectSuccess()
            // The second one says in what it is signed for what it was a delta over: that is of no meaning here.
            try await pass(to: second).expectSuccess()
        }
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // So does what came from a publication.
        try change("published")
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:shelf", "--identity", "phone").expectSuccess()
        try await desk.run("receive", "--into", "tablet-inbox", "--from", "dir:shelf", "--identity", "tablet")
            .expectSuccess()
        try await pass(to: second).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        _ = try await second.stop()
        try await desk.run("verify", "tablet-inbox").expectSuccess()
    }

    @Test func `what no device has signed stays where it is`() async throws {
        let (first, second) = (try await tabletListens(), try await watchListens())
        try await ship(to: first, "--no-remember").expectSuccess()
        let refused = try await pass(to: second)
        #expect(refused.status == .exited(65), "\(refused.stderr)")
        #expect(
            refused.complaints == [
                "ship-store: error: generation 1 of Recipes came without a signature of the device that made it, and others take "
                    + "it only with one",
                "ship-store: hint: ask for one here with `ship-store receive --relay`, of a sender with `ship-store send --relay`: "
                    + "the next change has it, or what comes after `ship-store forget Recipes --into INBOX`",
            ])
        try await expectNothing(in: "watch-inbox")
        // The same state has one once it comes again.
        try await desk.run("forget", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        try await ship(to: first).expectSuccess()
        try await pass(to: second).expectSuccess()
        // So has the next change.
        try change()
        try await ship(to: first).expectSuccess()
        try await pass(to: second).expectSuccess()
        _ = try await first.stop()
        _ = try await second.stop()
    }

    @Test func `who passes on may not send, and nothing goes on of a device that is not trusted`() async throws {
        let (first, second) = (try await tabletListens(), try await watchListens())
        // A relay's own store.
        let own = try await desk.run("send", "Recipes.sqlite", "--to", second.address, "--identity", "tablet")
        #expect(own.status == .exited(77))
        #expect(own.stderr.contains("the sender may not send Recipes here"), "\(own.stderr)")
        try await ship(to: first).expectSuccess()
        // A device that may only be shipped to is not even let in.
        try await trust(tablet, by: "watch", as: "receiver", notAs: "relay")
        #expect(try await pass(to: second).status == .exited(77))
        try await trust(tablet, by: "watch", as: "relay")
        try await desk.run("distrust", phone, "--identity", "watch", "-q").expectSuccess()
        let refused = try await pass(to: second)
        #expect(refused.status == .exited(77))
        #expect(refused.stderr.contains("the device that signed this shipment is not trusted to send"))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "--only-store", "Tea", "-q")
            .expectSuccess()
        #expect(try await pass(to: second).status == .exited(77))
        try await expectNothing(in: "watch-inbox")
        try await desk.run("trust", phone, "--identity", "watch", "--all-stores", "-q").expectSuccess()
        // The relay is let do so for some stores alone.
        try await desk.run("trust", tablet, "--identity", "watch", "--only-store", "Tea", "-q").expectSuccess()
        let forOthers = try await pass(to: second)
        #expect(forOthers.stderr.contains("the device at the other end may not pass on Recipes here"))
        #expect(forOthers.status == .exited(77))
        try await desk.run("trust", tablet, "--identity", "watch", "--all-stores", "-q").expectSuccess()
        try await pass(to: second).expectSuccess()
        _ = try await first.stop()
        _ = try await second.stop()
    }

    @Test func `a sender may pass on, too, and a copy never goes back`() async throws {
        try await trust(tablet, by: "watch", as: "sender", notAs: "relay")
        let (first, second) = (try await tabletListens(), try await watchListens())
        try await ship(to: first).expectSuccess()
        try await pass(to: second).expectSuccess()
        try change()
        try await ship(to: first).expectSuccess()
        try await pass(to: second).expectSuccess()
        _ = try await first.stop()
        try await desk.run("rollback", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        let old = try await pass(to: second)
        #expect(old.status == .exited(77))
        #expect(old.stderr.contains("has come already"), "\(old.stderr)")
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // What is there is newer, so that nothing has failed.
        try await desk.run("status", "--into", "watch-inbox").expectSuccess()
        // Who takes a store over is named, also with the same content.
        try await desk.run("trust", tablet, "--identity", "watch", "--takes-over", "Recipes", "-q").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", second.address, "--identity", "tablet").expectSuccess()
        let (maker, tabletDigest) = (try origin(in: "watch-inbox")["producer"] as? String, try digest(of: "tablet"))
        #expect(maker == tabletDigest)
        // The watch's own store of that name, from another device, is not replaced either.
        _ = try await second.stop()
    }

    @Test func `a copy that was passed on has no age`() async throws {
        let second = try await watchListens()
        let first = try await tabletListens()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", first.address, "--identity", "phone", "--relay", "--follow")
        try await desk.arrives("Recipes", in: "tablet-inbox", from: "Recipes.sqlite")
        let relay = try desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow", "--json")
        for title in ["a", "b", "c"] {
            try change(title)
            try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        }
        #expect(FileManager.default.fileExists(atPath: desk["tablet-inbox/.ship-store/Recipes/asof.json"].string))
        #expect(!FileManager.default.fileExists(atPath: desk["watch-inbox/.ship-store/Recipes/asof.json"].string))
        sender.signal(SIGTERM)
        #expect(try await sender.wait(timeout: .seconds(20)).status == .exited(0))
        relay.signal(SIGTERM)
        let passed = try await relay.wait(timeout: .seconds(20))
        #expect(passed.status == .exited(0))
        // The certificate went with the first one alone.
        let bytes = try wire(passed)
        #expect(bytes < 600, "\(bytes)")
        _ = try await first.stop()
        _ = try await second.stop()
        #expect(try desk.leftovers == [])
    }

    @Test func `who follows waits for what is signed`() async throws {
        let (first, second) = (try await tabletListens(), try await watchListens())
        try await ship(to: first, "--no-remember").expectSuccess()
        let relay = try desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow")
        _ = try await relay.waitForLine(containing: "came without a signature")
        try change()
        try await ship(to: first).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        for program in [relay, first.program, second.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
    }

    @Test func `what comes into the inbox later goes on, too`() async throws {
        let second = try await watchListens()
        let relay = try desk.start(
            "send", "--inbox", "tablet-inbox", "--to", second.address, "--identity", "tablet", "--follow")
        _ = try await relay.waitForLine(containing: "there is no store in tablet-inbox yet: what comes is passed on")
        let first = try await tabletListens()
        try await ship(to: first).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        try desk.makeStore("Tea.sqlite", rows: 20)
        let tea = ["send", "Tea.sqlite", "--to", first.address, "--identity", "phone", "--relay"]
        try await desk.run(tea).expectSuccess()
        try await desk.arrives("Tea", in: "watch-inbox", from: "Tea.sqlite")
        // What is forgotten there stays here, and goes on when it comes again.
        try await desk.run("forget", "Tea", "--into", "tablet-inbox", "-q").expectSuccess()
        try change()
        try await ship(to: first).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        #expect(try desk.hasInstalled("Tea", in: "watch-inbox", from: "Tea.sqlite"))
        try desk.execute("INSERT INTO recipe(title) VALUES ('green')", in: "Tea.sqlite")
        try await desk.run(tea).expectSuccess()
        try await desk.arrives("Tea", in: "watch-inbox", from: "Tea.sqlite")
        for program in [relay, first.program, second.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
        #expect(try desk.leftovers == [])
    }

    @Test func `with --retry what is not in the inbox yet is waited for`() async throws {
        let second = try await watchListens()
        let relay = try desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--to", second.address, "--identity", "tablet", "--retry",
            "60s")
        _ = try await relay.waitForLine(containing: "trying again")
        let first = try await tabletListens()
        try await ship(to: first).expectSuccess()
        #expect(try await relay.wait().status == .exited(0))
        #expect(try desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        for receiver in [first, second] { _ = try await receiver.stop() }
    }

    @Test func `who comes for a store waits until it is there, and gets no other`() async throws {
        let program = try desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--listen", "127.0.0.1:0", "--identity", "tablet", "--follow",
            "--json")
        _ = try await program.waitForLine(
            containing: "there is no Recipes in tablet-inbox yet: what comes is passed on")
        let line = try await program.waitForLine(containing: "listening on ")
        let address = String(line.trimmingPrefix("listening on "))
        let once = try await desk.run("receive", "--into", "watch-inbox", "--from", address, "--identity", "watch")
        #expect(once.status == .exited(77), "\(once.stderr)")
        let receiver = try desk.start(
            "receive", "--into", "watch-inbox", "--from", address, "--identity", "watch", "--follow")
        let first = try await tabletListens()
        try desk.makeStore("Tea.sqlite", rows: 20)
        try await desk.run("send", "Tea.sqlite", "--to", first.address, "--identity", "phone", "--relay")
            .expectSuccess()
        try await ship(to: first).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        #expect(!FileManager.default.fileExists(atPath: desk["watch-inbox/.ship-store/Tea"].string))
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

    @Test func `external files go on, and only those that are new`() async throws {
        let sample = try CoreDataSample(at: desk["Notes.sqlite"])
        let photos = (0..<2).map { _ in Data((0..<200_000).map { _ in UInt8.random(in: 0...255) }) }
        try sample.addPhoto(key: 1, content: photos[0])
        let (first, second) = (try await tabletListens(), try await watchListens())
        func goOn() async throws -> Int {
            try await desk.run(
                "send", "Notes.sqlite", "--to", first.address, "--identity", "phone", "--relay", "-q"
            ).expectSuccess()
            let outcome = try await desk.run(
                "send", "--inbox", "tablet-inbox", "Notes", "--to", second.address, "--identity", "tablet", "--json")
            outcome.expectSuccess()
            return try wire(outcome)
        }
        #expect(try await goOn() > 200_000)
        try sample.addPhoto(key: 2, content: photos[1])
        // The first one does not go again.
        let bytes = try await goOn()
        #expect(bytes > 200_000 && bytes < 250_000, "\(bytes)")
        for (inbox, photo) in [("tablet-inbox", 1), ("watch-inbox", 1), ("watch-inbox", 0)] {
            let folder = desk[inbox].appending(".Notes_SUPPORT").appending("_EXTERNAL_DATA")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            let contents = try files.map { try Data(contentsOf: URL(filePath: folder.appending($0).string)) }
            #expect(contents.contains(photos[photo]), "\(inbox)")
        }
        _ = try await first.stop()
        _ = try await second.stop()
    }

    @Test func `receivers come for what an inbox holds, and hear of each change`() async throws {
        try await trust(tablet, by: "watch", as: "relay")
        let first = try await tabletListens()
        try await ship(to: first).expectSuccess()
        let program = try desk.start(
            "send", "--inbox", "tablet-inbox", "Recipes", "--listen", "127.0.0.1:0", "--identity", "tablet", "--follow")
        let line = try await program.waitForLine(containing: "listening on ")
        let address = String(line.trimmingPrefix("listening on "))
        let receiver = try desk.start(
            "receive", "--into", "watch-inbox", "--from", address, "--identity", "watch", "--follow")
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        try change()
        try await ship(to: first).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        // The tablet goes back: the watch does not, and the tablet goes on with the next one.
        _ = try await first.stop()
        try await desk.run("rollback", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        _ = try await program.waitForLine(containing: "has come already")
        receiver.signal(SIGTERM)
        #expect(try await receiver.wait(timeout: .seconds(20)).status == .exited(0))
        // Who comes only now hears that the relay is behind, and who follows waits for it.
        let late = ["receive", "--into", "watch-inbox", "--from", address, "--identity", "watch"]
        let behind = "the relay is behind: Recipes is passed on with the number 1, and 2 has come already"
        try await desk.run(late).expectFailure(
            77, behind, hint: "what is newer is here; to wait until the relay has caught up, say --follow")
        let waiting = try desk.start(late + ["--follow"])
        _ = try await waiting.waitForLine(containing: behind)
        try await desk.run("rollback", "Recipes", "--into", "tablet-inbox", "--release", "-q").expectSuccess()
        let again = try await tabletListens()
        try change("after")
        try await ship(to: again).expectSuccess()
        try await desk.arrives("Recipes", in: "watch-inbox", from: "Recipes.sqlite")
        for program in [waiting, program, again.program] {
            program.signal(SIGTERM)
            #expect(try await program.wait(timeout: .seconds(20)).status == .exited(0))
        }
        #expect(try desk.leftovers == [])
    }

    // MARK: What is in an inbox

    private func expectNothing(in inbox: String) async throws {
        #expect(!FileManager.default.fileExists(atPath: desk[inbox].appending("Recipes.sqlite").string))
    }

    private func current(in inbox: String) -> FilePath { desk["\(inbox)/.ship-store/Recipes/current"] }

    private func object(_ path: FilePath) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path.string))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func origin(in inbox: String) throws -> [String: Any] {
        try object(current(in: inbox).appending("origin.json"))
    }

    private func counter(in inbox: String) throws -> Int? {
        try object(current(in: inbox).appending("manifest.json"))["counter"] as? Int
    }

    private func digest(of device: String) throws -> String {
        ContentDigest(sha256: try DeviceFolder(at: desk[device]).identity().id.bytes).hex
    }
}
