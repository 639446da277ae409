import Foundation
import SystemPackage
import TestSupport
import Testing

/// Senders that listen, and receivers that come for what they have.
@Suite(.serialized) struct ListeningSenderTests {
    // MARK: Who gets what

    @Test func `each receiver gets what there is, from one copy, and only what it does not hold`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        let sender = try await desk.serve("Recipes.sqlite", "--insecure", "--json")
        for inbox in ["a", "b", "c"] {
            let outcome = try await desk.run("receive", "--into", inbox, "--from", sender.address).expectSuccess()
            #expect(outcome.stderr.contains("installed Recipes, generation 1"))
            #expect(try desk.hasInstalled("Recipes", in: inbox, from: "Recipes.sqlite"))
        }
        let again = try await desk.run("receive", "--into", "a", "--from", sender.address).expectSuccess()
        #expect(again.stderr.contains("unchanged: Recipes, generation 1"))
        let outcome = try await sender.stop()
        try outcome.expectOutput(of: "send")
        let events = try outcome.events()
        #expect(events.count { $0["event"] as? String == "copied" } == 1)
        let finished = events.filter { $0["event"] as? String == "finished" }
        #expect(finished.compactMap { $0["session"] as? Int } == [1, 2, 3, 4])
        #expect(finished.allSatisfy { ($0["peer"] as? String)?.hasPrefix("127.0.0.1:") == true })
        #expect((finished.last?["wire"] as? Int ?? .max) < 200)
        #expect(try desk.leftovers == [])
    }

    @Test func `what one listener has sent counts for nothing at another one`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Recipes.db", rows: 5)
        for (store, place) in [("Recipes.sqlite", "a"), ("Recipes.db", "b")] {
            let sender = try await desk.serve(on: "unix:socket-\(place)", store)
            try await desk.run("receive", "--into", place, "--from", "unix:socket-\(place)").expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: place, from: store))
            _ = try await sender.stop()
        }
    }

    @Test func `a sender serves one receiver, once, with its status`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let sender = try await desk.serve(on: "unix:socket", "Recipes.sqlite", "--once")
        try await desk.run("receive", "--into", "inbox", "--from", "unix:socket").expectSuccess()
        #expect(try await sender.program.wait().status == .exited(0))
        let second = try await desk.serve(on: "unix:socket", "Recipes.sqlite", "--once")
        let refused = try await desk.run(
            "receive", "--into", "other", "--from", "unix:socket", "--user-version", "7")
        #expect(refused.status == .exited(65))
        #expect(try await second.program.wait().status == .exited(65))
        let alone = try await desk.serve(on: "unix:socket", "Recipes.sqlite", "--once")
        alone.program.signal(SIGTERM)
        #expect(try await alone.program.wait().status == .exited(143))
    }

    private static let trustOne =
        "let one pair, with --pair; or trust it by its id: ship-store trust ID --role receiver; or serve programs of this "
        + "machine alone, with --insecure"

    @Test func `nobody is served who is not trusted, and a stranger learns nothing`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--listen", "127.0.0.1:0").expectFailure(
            77, "no device is trusted as a receiver, so nobody may come for a store", hint: Self.trustOne)
        let phone = try await desk.id(of: "phone")
        let watch = try await desk.id(of: "watch")
        // A sender is no receiver.
        try await desk.run("trust", watch, "--identity", "phone", "--role", "sender", "-q").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--listen", "127.0.0.1:0", "--identity", "phone")
            .expectFailure(
                77, "no device is trusted as a receiver, so nobody may come for a store",
                hint: Self.trustOne)
        let tablet = try await desk.id(of: "tablet")
        try await desk.run("trust", tablet, "--identity", "phone", "--role", "receiver", "-q").expectSuccess()
        let sender = try await desk.serve("Recipes.sqlite", "--identity", "phone")
        for device in ["watch", "stranger"] {
            _ = try await desk.id(of: device)
            try await desk.run("trust", phone, "--identity", device, "--role", "sender", "-q").expectSuccess()
            let outcome = try await desk.run("receive", "--into", "in", "--from", sender.address, "--identity", device)
            #expect(outcome.status == .exited(77))
            #expect(!outcome.stderr.contains("Recipes"), "\(outcome.stderr)")
        }
        let plain = try await desk.run("receive", "--into", "in", "--from", sender.address, "--insecure")
        #expect(plain.status != .exited(0))
        #expect(try !desk.listing(of: ".").contains("in"))
        let outcome = try await sender.stop()
        #expect(outcome.stderr.contains("turned away"))
        #expect(!outcome.stderr.contains("copied"))
    }

    @Test func `a sender that serves one receiver is not ended by the refusal of another`() async throws {
        let desk = try Desk()
        try desk.makeLargeStore(megabytes: 1)
        let sender = try await desk.serve("Large.sqlite", "--insecure", "--once", "--limit-rate", "200k")
        let first = try desk.start("receive", "--into", "in", "--from", sender.address)
        _ = try await first.waitForLine(containing: "receiving Large")
        let other = try await desk.run("receive", "--into", "other", "--from", sender.address, "--max-store", "1k")
        #expect(other.status != .exited(0))
        try await first.wait().expectSuccess()
        // It warns of the other one's refusal.
        #expect(try await sender.program.wait().status == .exited(0))
        #expect(try desk.hasInstalled("Large", in: "in", from: "Large.sqlite"))
    }

    @Test func `a receiver gets the stores that it may have, and nothing more once it is not trusted`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Secrets.sqlite")
        let (phone, tablet) = (try await desk.id(of: "phone"), try await desk.id(of: "tablet"))
        try await desk.run("trust", phone, "--identity", "tablet", "--role", "sender", "-q").expectSuccess()
        try await desk.run(
            "trust", tablet, "--identity", "phone", "--role", "receiver", "--store", "Recipes", "--name", "tablet", "-q"
        ).expectSuccess()
        let sender = try await desk.serve("Secrets.sqlite", "Recipes.sqlite", "--identity", "phone", "--follow")
        let receiver = try desk.start(
            "receive", "--into", "in", "--from", sender.address, "--identity", "tablet", "--follow")
        try await desk.arrives("Recipes", in: "in", from: "Recipes.sqlite")
        #expect(try desk.listing(of: "in").filter { $0.hasPrefix("Secrets") } == [])
        let other = try await desk.id(of: "other")
        try await desk.run("trust", phone, "--identity", "other", "--role", "sender", "-q").expectSuccess()
        try await desk.run(
            "trust", other, "--identity", "phone", "--role", "receiver", "--store", "Photos", "-q"
        ).expectSuccess()
        for options in [[], ["--follow"]] {
            let none = try await desk.run(
                ["receive", "--into", "none", "--from", sender.address, "--identity", "other"] + options)
            #expect(none.status == .exited(77))
            #expect(none.stderr.contains("this device may have no store there"), "\(none.stderr)")
            #expect(none.stderr.contains("`ship-store trust ID --role receiver --store NAME`"), "\(none.stderr)")
            #expect(!none.stderr.contains("Secrets") && !none.stderr.contains("Recipes"))
        }
        try await desk.run("distrust", "tablet", "--identity", "phone", "-q").expectSuccess()
        _ = try await sender.program.waitForLine(containing: "is no longer connected", timeout: .seconds(5))
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        let outcome = try await receiver.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(77), "\(outcome.stderr)")
        #expect(try !desk.hasInstalled("Recipes", in: "in", from: "Recipes.sqlite"))
        _ = try await sender.stop()
    }

    @Test func `a code makes two devices trust each other also where the sender shows it`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let sender = try await desk.serve(
            on: "0.0.0.0:0", "Recipes.sqlite", "--identity", "phone", "--peer-name", "tablet", "--pair")
        let line = try await sender.program.waitForLine(containing: "pairing code: ")
        let code = String(line.trimmingPrefix("pairing code: ").prefix(7))
        let address = "127.0.0.1:\(sender.port)"
        // Who would send as well has another purpose.
        try await desk.run("send", "Recipes.sqlite", "--to", address, "--identity", "other", "--pair", code)
            .expectFailure(
                77, "the two sides do not have the same code, or somebody stands in between",
                hint: "compare the codes; after five tries say --pair anew there")
        let received = try await desk.run(
            "receive", "--into", "in", "--from", address, "--identity", "tablet", "--peer-name", "phone", "--pair", code
        ).expectSuccess()
        #expect(received.stderr.contains("paired with phone: it may send every store\n"))
        #expect(try desk.hasInstalled("Recipes", in: "in", from: "Recipes.sqlite"))
        #expect(try await sender.stop().stderr.contains("paired with tablet: it may receive every store\n"))
    }

    @Test(arguments: [
        (["send", "a.sqlite"], "say where the shipment goes"),
        (["send", "a.sqlite", "--to", "watch", "--listen", "127.0.0.1:0"], "--to and --listen exclude each other"),
        (["send", "a.sqlite", "--to", "watch", "--once"], "--once says something only with --listen"),
        (["send", "a.sqlite", "--to", "watch", "--pair"], "--pair needs the code"),
        (["send", "a.sqlite", "--listen", "127.0.0.1:0", "--pair", "482-913"], "--pair takes none"),
        (["send", "a.sqlite", "--listen", "unix:x", "--pair"], "--pair goes over TCP only"),
        (["send", "a.sqlite", "--listen", "127.0.0.1:0", "--dry-run"], "exclude each other"),
        (["send", "a.sqlite", "--listen", "127.0.0.1:0", "--retry", "5s"], "--retry says nothing with --listen"),
        (["receive", "--into", "in", "--follow"], "--follow says something only with --from"),
        (["send", "a.sqlite", "--to", "watch", "--max-connections", "3"], "--max-connections says something only"),
        (["receive", "--into", "in", "--from", "phone", "--max-unknown", "3"], "--max-unknown says something only"),
        (
            ["receive", "--into", "in", "--from", "./x.shipment", "--follow"],
            "--follow says something only with --from"
        ),
        (["receive", "--into", "in", "--from", "phone", "--keep-trying"], "--keep-trying says something only"),
        (["receive", "--into", "in", "--from", "phone", "--pair"], "--pair needs the code"),
        (["receive", "--into", "in", "--pair", "482-913"], "--pair takes none"),
    ])
    func `what makes no sense is said`(arguments: [String], words: String) async throws {
        let outcome = try await Desk().run(arguments)
        #expect(outcome.status == .exited(64))
        #expect(outcome.stderr.contains(words), "\(outcome.stderr)")
    }

    // MARK: Slow ones

    @Test func `slow receivers hold nobody up, few states are kept for them, and they get there`() async throws {
        let desk = try Desk()
        // What does not deflate, so that the first shipment takes a while.
        try desk.execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE recipe(id INTEGER PRIMARY KEY, data BLOB);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO recipe(data) SELECT randomblob(2000) FROM n;
            """, in: "S.sqlite")
        let sender = try await desk.serve("S.sqlite", "--insecure", "--follow", "--settle", "50ms")
        let relay = try await CuttingRelay(to: sender, rate: 60_000, senderListens: true)
        let fast = try desk.start("receive", "--into", "fast", "--from", sender.address, "--follow")
        try await desk.arrives("S", in: "fast", from: "S.sqlite")
        var slow: [ChildProgram] = []
        var longest = Duration.zero
        for round in 0..<5 {
            // Each begins with another state.
            slow.append(try desk.start("receive", "--into", "slow-\(round)", "--from", relay.address, "--follow"))
            try await Task.sleep(for: .milliseconds(500))
            try desk.execute("INSERT INTO recipe(data) VALUES ('round \(round)')", in: "S.sqlite")
            let start = ContinuousClock.now
            try await desk.arrives("S", in: "fast", from: "S.sqlite")
            longest = max(longest, .now - start)
            // The newest may be there a second time, while it is being taken.
            let copies = desk.copies
            #expect(copies.count <= 4, "\(copies)")
        }
        #expect(longest < .seconds(8), "\(sender.program.text(.error))")
        for round in slow.indices { try await desk.arrives("S", in: "slow-\(round)", from: "S.sqlite", within: 90) }
        #expect(sender.program.text(.error).contains("makes way for newer states of S"))
        for program in slow + [fast] { try await program.stopFollowing() }
        _ = try await sender.stop()
        _ = try await relay.end()
        #expect(try desk.leftovers == [])
    }

    @Test func `no more bytes go out than a limit allows, to all receivers together`() async throws {
        let desk = try Desk()
        try desk.execute(
            """
            CREATE TABLE recipe(data BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO recipe SELECT randomblob(1500) FROM n;
            """, in: "S.sqlite")
        let sender = try await desk.serve("S.sqlite", "--insecure", "--limit-rate", "100k")
        let start = ContinuousClock.now
        async let first = desk.run("receive", "--into", "a", "--from", sender.address)
        async let second = desk.run("receive", "--into", "b", "--from", sender.address)
        try await first.expectSuccess()
        try await second.expectSuccess()
        // Both get 150,000 bytes that do not deflate.
        #expect(.now - start >= .seconds(2.9))
        _ = try await sender.stop()
        let file = try await desk.run("send", "S.sqlite", "--to", "./s.shipment", "--limit-rate", "100k")
        #expect(file.status == .exited(64))
    }

    // MARK: Anything that may happen

    @Test(arguments: Soak.isOn ? 1...30 : 1...2)
    func `whatever happens, every receiver holds one commit, never an older one, and in the end the last`(
        run: Int
    ) async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let desk = try Desk()
        var source = try TickingStore(at: desk["S.sqlite"])
        var sender = try await desk.serve("S.sqlite", "--insecure", "--follow", "--settle", "50ms")
        let port = sender.port
        let cuts = (0..<Int.random(in: 2...12, using: &random)).map { _ in Int.random(in: 1...4000, using: &random) }
        let relay = try await CuttingRelay(to: sender, cuts: cuts, senderListens: true)
        func receive(_ number: Int) throws -> ChildProgram {
            // Some go through what breaks.
            let address = number % 2 == 0 ? relay.address : sender.address
            return try desk.start("receive", "--into", "in-\(number)", "--from", address, "--follow", "--keep", "1000")
        }
        var receivers = try (0..<3).map(receive)
        var (seen, story) = ([0, 0, 0], [String]())
        func look() throws {
            for number in receivers.indices {
                let tick = try TickingStore.tick(of: desk["in-\(number)/S.sqlite"]) ?? 0
                #expect(
                    tick >= seen[number] && tick <= source.tick, "seed \(seed), \(number): \(seen), \(tick): \(story)")
                seen[number] = tick
            }
        }
        for _ in 0..<(Soak.isOn ? 60 : 16) {
            let events = ["commit", "burst", "vacuum", "replace", "kill sender", "kill receiver", "another", "commit"]
            let event = events.randomElement(using: &random) ?? ""
            story.append(event)
            switch event {
            case "commit": try source.commit()
            case "burst": for _ in 0..<Int.random(in: 2...30, using: &random) { try source.commit() }
            case "vacuum": try source.run("VACUUM")
            case "replace": try source.replace()
            case "kill sender":
                sender.program.signal(SIGKILL)
                _ = try await sender.program.wait()
                sender = try await desk.serve(
                    on: "127.0.0.1:\(port)", "S.sqlite", "--insecure", "--follow", "--settle", "50ms")
            case "kill receiver":
                let number = Int.random(in: receivers.indices, using: &random)
                receivers[number].signal(SIGKILL)
                _ = try await receivers[number].wait()
                receivers[number] = try receive(number)
            default:
                guard receivers.count < 6 else { continue }
                seen.append(0)
                receivers.append(try receive(receivers.count))
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
            try look()
        }
        do {
            try await desk.waitUntil(within: .seconds(80)) {
                try look()
                return seen.allSatisfy { $0 == source.tick }
            }
        } catch {
            Issue.record("seed \(seed): \(seen) of \(source.tick): \(story)\n\(sender.program.text(.error))")
        }
        try source.close()
        for number in receivers.indices { try await desk.arrives("S", in: "in-\(number)", from: "S.sqlite") }
        for receiver in receivers { try await receiver.stopFollowing() }
        _ = try await sender.stop()
        _ = try await relay.end()
        #expect(try desk.leftovers == [], "seed \(seed): \(story)")
    }
}

extension Desk {
    /// Starts a sender, and waits until it listens.
    fileprivate func serve(on address: String = "127.0.0.1:0", _ arguments: String...) async throws -> Receiver {
        let program = try start(["send", "--listen", address] + arguments)
        let line = try await program.waitForLine(containing: "listening on ")
        return Receiver(program: program, address: String(line.trimmingPrefix("listening on ")))
    }

    fileprivate func listing(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[folder].string)
    }

    /// The copies of live stores that there are now.
    fileprivate var copies: [String] {
        [temporary, memory].flatMap { folder in
            ((try? FileManager.default.subpathsOfDirectory(atPath: folder.string)) ?? []).filter {
                $0.hasPrefix("ship-store-") && $0.hasSuffix(".sqlite")
            }
        }
    }
}
