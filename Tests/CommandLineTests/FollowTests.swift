import Foundation
import SystemPackage
import TestSupport
import Testing

/// Following stores: each settled change arrives, whatever happens to the store, the link and either side.
@Suite(.serialized) struct FollowTests {
    // MARK: One thing after the other

    @Test func `each change arrives over one connection, and less goes each time`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        let receiver = try await desk.listen()
        let sender = try desk.follow("Recipes.sqlite", to: receiver.address)
        for number in 1...3 {
            try await desk.arrives("Recipes", from: "Recipes.sqlite")
            try desk.execute("INSERT INTO recipe(title) VALUES ('new \(number)')", in: "Recipes.sqlite")
        }
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        _ = try await sender.waitForLine(containing: "as generation 4")
        let events = try await sender.stopFollowing().events()
        let received = try await receiver.stop()
        #expect(received.status == .exited(0))
        let finished = events.filter { $0["event"] as? String == "finished" }
        #expect(finished.count == 4)
        #expect(finished.dropFirst().allSatisfy { ($0["wire"] as? Int ?? .max) < 500 }, "\(finished)")
        #expect(events.count { $0["event"] as? String == "connected" } == 1)
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that is told to stop says so to the receiver`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(on: "unix:socket", into: "inbox", "--once")
        let sender = try desk.follow("Recipes.sqlite", to: "unix:socket")
        _ = try await sender.waitForLine(containing: "installed Recipes")
        try await sender.stopFollowing()
        let outcome = try await receiver.program.wait()
        #expect(outcome.status == .exited(0))
        #expect(!outcome.stderr.contains("no longer connected"), "\(outcome.stderr)")
    }

    @Test func `a receiver that is told to stop says so to the sender`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(on: "127.0.0.1:0")
        let sender = try desk.follow("Recipes.sqlite", to: receiver.address)
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        _ = try await receiver.stop()
        let line = try await sender.waitForLine(containing: "trying again")
        #expect(line.contains("the receiver was stopped"))
        try await sender.stopFollowing()
    }

    @Test func `what no time mends ends the following, with its status`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--user-version", "7")
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--follow")
        #expect(outcome.status == .exited(65))
        #expect(outcome.complaints.last?.contains("hint: update the reader there") == true, "\(outcome.stderr)")
        let sender = try desk.follow("Recipes.sqlite", to: receiver.address, "--keep-trying")
        _ = try await sender.waitForLine(containing: "was not shipped")
        #expect(!sender.hasEnded)
        try desk.execute("PRAGMA user_version = 7", in: "Recipes.sqlite")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await sender.stopFollowing()
        _ = try await receiver.stop()
    }

    @Test func `with --keep-trying a store that is missing at the start is waited for, and the others go`() async throws
    {
        let desk = try Desk()
        try desk.makeStore("Notes.sqlite")
        let receiver = try await desk.listen()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "Notes.sqlite", "--to", receiver.address, "--follow", "--json", "--keep-trying")
        try await desk.arrives("Notes", from: "Notes.sqlite")
        let line = try await sender.waitForLine(containing: "Recipes was not shipped")
        #expect(line.contains("there is no store at Recipes.sqlite"))
        // Longer than the first attempts.
        try await Task.sleep(for: .seconds(3))
        #expect(!sender.hasEnded)
        try desk.makeStore("new.sqlite")
        try await desk.shell("mv new.sqlite Recipes.sqlite").expectSuccess()
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        let events = try await sender.stopFollowing().events()
        // It is said once.
        #expect(events.count { $0["event"] as? String == "failed" } == 1, "\(events)")
        _ = try await receiver.stop()
    }

    @Test(arguments: [["--listen", "127.0.0.1:0", "--insecure"], ["--to", "dir:public"]])
    func `with --keep-trying each store that is missing at the start is named, before anybody connects`(
        place: [String]
    ) async throws {
        let desk = try Desk()
        let sender = try desk.start(["send", "A.sqlite", "B.sqlite", "--follow", "--keep-trying"] + place)
        for name in ["A", "B"] {
            let line = try await sender.waitForLine(containing: "\(name) was not shipped")
            #expect(line.contains("there is no store at \(name).sqlite"))
        }
        try await sender.stopFollowing()
    }

    @Test func `a sender that follows keeps its session while the store is held, and goes on once it is released`()
        async throws
    {
        let desk = try Desk()
        try desk.makeStore(rows: 200)
        let receiver = try await desk.listen()
        let sender = try desk.follow("Recipes.sqlite", to: receiver.address)
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try desk.execute("INSERT INTO recipe(title) VALUES ('wrong')", in: "Recipes.sqlite")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
        try desk.execute("INSERT INTO recipe(title) VALUES ('wrong still')", in: "Recipes.sqlite")
        _ = try await sender.waitForLine(containing: "holds it there")
        for number in 1...20 {
            try desk.execute("INSERT INTO recipe(title) VALUES ('again \(number)')", in: "Recipes.sqlite")
            try await Task.sleep(for: .milliseconds(50))
        }
        // Longer than three attempts, after which a following ends that no time mends.
        try await Task.sleep(for: .seconds(8))
        #expect(!sender.hasEnded)
        let wrong = try await desk.shell(
            "sqlite3 -readonly inbox/Recipes.sqlite \"SELECT count(*) FROM recipe WHERE title LIKE 'wrong%'\"")
        #expect(wrong.stdout == "0\n")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--release").expectSuccess()
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        let events = try await sender.stopFollowing().events()
        let offers = events.count { $0["event"] as? String == "copied" }
        #expect((4...9).contains(offers), "\(events)")
        // It is said once.
        #expect(events.count { $0["event"] as? String == "failed" } == 1, "\(events)")
        #expect(events.count { $0["event"] as? String == "connected" } == 1)
        let received = try await receiver.stop()
        #expect(received.status == .exited(0))
    }

    @Test func `options of following alone, and endpoints that do not answer, are refused`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        for options in [
            ["--to", "127.0.0.1:1", "--settle", "1s"], ["--to", "127.0.0.1:1", "--keep-trying"],
            ["--to", "127.0.0.1:1", "--memory", "64M"],
            ["--to", "./x.shipment", "--follow"], ["--to", "-", "--follow"],
            ["--to", "127.0.0.1:1", "--follow", "--keepalive", "0s"],
            ["--to", "127.0.0.1:1", "--follow", "--settle", "soon"],
            ["--to", "127.0.0.1:1", "--follow", "--dry-run"],
        ] {
            let outcome = try await desk.run(["send", "Recipes.sqlite"] + options)
            #expect(outcome.status == .exited(64), "\(options): \(outcome.stderr)")
        }
        let outcome = try await desk.run("send", "nosuch.sqlite", "--to", "127.0.0.1:1", "--follow")
        #expect(outcome.status == .exited(66))
    }

    @Test func `a single shipment is tried again for as long as it is told`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let first = try await desk.listen()
        _ = try await first.stop()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", first.address, "--retry", "30s")
        _ = try await sender.waitForLine(containing: "trying again")
        let second = try await desk.listen(on: first.address)
        let outcome = try await sender.wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        _ = try await second.stop()
        let late = try await desk.run("send", "Recipes.sqlite", "--to", first.address, "--retry", "1s")
        #expect(late.status == .exited(69))
        #expect(late.stderr.contains("trying again"))
        try await desk.run("send", "Nowhere.sqlite", "--to", first.address, "--retry", "30s").expectFailure(
            66, "there is no store at Nowhere.sqlite", hint: "check the path")
        for options in [["./x.shipment"], ["-"], ["127.0.0.1:1", "--follow"]] {
            let refused = try await desk.run(["send", "Recipes.sqlite", "--retry", "1s", "--to"] + options)
            #expect(refused.status == .exited(64))
        }
    }

    @Test func `an idle store costs neither CPU nor bytes, and both sides notice when the other is gone`() async throws
    {
        let desk = try Desk()
        try desk.makeStore()
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", into: "inbox", "--keepalive", "1s", "--idle-timeout", "1")
        let sender = try desk.follow(
            "Recipes.sqlite", to: receiver.address, "--keepalive", "1s", "--idle-timeout", "1")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        let before = (try sender.cpuTime(), try receiver.program.cpuTime())
        try await Task.sleep(for: .seconds(4))
        // Longer than either would wait for a word: the words came.
        #expect(!sender.text(.error).contains("trying again"))
        #expect(try sender.cpuTime() - before.0 < .milliseconds(200))
        #expect(try receiver.program.cpuTime() - before.1 < .milliseconds(200))
        // It does not answer, and does not close anything.
        receiver.program.signal(SIGSTOP)
        _ = try await sender.waitForLine(containing: "trying again", timeout: .seconds(20))
        receiver.program.signal(SIGCONT)
        try desk.execute("INSERT INTO recipe(title) VALUES ('after')", in: "Recipes.sqlite")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        sender.signal(SIGSTOP)
        _ = try await receiver.program.waitForLine(
            containing: "no longer connected: the other side has been silent", timeout: .seconds(20))
        sender.signal(SIGCONT)
        try await sender.stopFollowing()
        _ = try await receiver.stop()
    }

    // MARK: Anything that may happen

    @Test func `a commit while the last one is being copied is not missed, although nothing follows it`() async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let desk = try Desk()
        var source = try TickingStore(at: desk["S.sqlite"])
        // A copy that takes its time; and a writer that keeps the store open, so that a look leaves no traces.
        try source.run(
            """
            CREATE TABLE ballast(data BLOB);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO ballast SELECT zeroblob(10000) FROM n;
            """)
        let receiver = try await desk.listen()
        let sender = try desk.follow("S.sqlite", to: receiver.address, "--settle", "50ms")
        for _ in 0..<(Soak.isOn ? 100 : 12) {
            // As long as the copy before is to be a small part of the time.
            try await Task.sleep(for: .milliseconds(500))
            try source.commit()
            let pause = Int.random(in: 45...120, using: &random)
            try await Task.sleep(for: .milliseconds(pause))
            try source.commit()
            do {
                try await desk.waitUntil(within: .seconds(20)) {
                    try TickingStore.tick(of: desk["inbox/S.sqlite"]) == source.tick
                }
            } catch {
                Issue.record("seed \(seed), \(pause) ms: \(source.tick) is missed\n\(sender.text(.error))")
                break
            }
        }
        try source.close()
        try await sender.stopFollowing()
        _ = try await receiver.stop()
    }

    @Test(arguments: Soak.isOn ? 1...40 : 1...2)
    func `whatever happens, the receiver holds one commit, never an older one than before, and in the end the last`(
        run: Int
    ) async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let desk = try Desk()
        var source = try TickingStore(at: desk["S.sqlite"])
        var receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--keep", "1000")
        let port = receiver.port
        let cuts = (0..<Int.random(in: 2...12, using: &random)).map { _ in Int.random(in: 1...4000, using: &random) }
        let relay = try await CuttingRelay(to: receiver, cuts: cuts)
        var sender = try desk.follow("S.sqlite", to: relay.address, "--settle", "50ms")
        var (seen, story) = (0, [String]())
        func look() throws {
            let tick = try TickingStore.tick(of: desk["inbox/S.sqlite"]) ?? 0
            #expect(tick >= seen && tick <= source.tick, "seed \(seed): \(seen), then \(tick): \(story)")
            seen = tick
        }
        for _ in 0..<(Soak.isOn ? 60 : 18) {
            let event =
                [
                    "commit", "commit", "burst", "close", "checkpoint", "vacuum", "mode", "replace", "anew",
                    "kill sender",
                    "kill receiver", "touch",
                ].randomElement(using: &random) ?? ""
            story.append(event)
            switch event {
            case "commit": try source.commit()
            case "burst": for _ in 0..<Int.random(in: 2...30, using: &random) { try source.commit() }
            case "close": try source.close()
            case "checkpoint": try source.run("PRAGMA wal_checkpoint(TRUNCATE)")
            case "vacuum": try source.run("VACUUM")
            case "mode":
                try source.close()
                try? source.run("PRAGMA journal_mode = \(Bool.random(using: &random) ? "DELETE" : "WAL")")
            case "replace": try source.replace()
            case "anew": try source.makeAnew()
            case "kill sender":
                sender.signal(SIGKILL)
                _ = try await sender.wait()
                sender = try desk.follow("S.sqlite", to: relay.address, "--settle", "50ms")
            case "kill receiver":
                receiver.program.signal(SIGKILL)
                _ = try await receiver.program.wait()
                receiver = try await desk.listen(on: "127.0.0.1:\(port)", into: "inbox", "--keep", "1000")
            default: utimes(source.path.string, nil)
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
            try look()
        }
        do {
            try await desk.waitUntil(within: .seconds(40)) {
                try look()
                return seen == source.tick
            }
        } catch {
            Issue.record("seed \(seed): \(seen) of \(source.tick): \(story)\n\(sender.text(.error))")
        }
        try source.close()
        try await desk.arrives("S", from: "S.sqlite")
        try await sender.stopFollowing()
        _ = try await receiver.stop()
        _ = try await relay.end()
        #expect(try desk.leftovers == [], "seed \(seed): \(story)")
    }
}

extension Desk {
    func follow(_ store: String, to address: String, _ options: String...) throws -> ChildProgram {
        try start(["send", store, "--to", address, "--follow", "--json"] + options)
    }
}

extension ChildProgram {
    /// A signal is its regular end.
    @discardableResult
    func stopFollowing() async throws -> Outcome {
        try await signalOnceReady(SIGINT)
        let outcome = try await wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        return outcome
    }

    /// Of the process, so far: proc_pid_stat(5).
    fileprivate func cpuTime() throws -> Duration {
        let text = try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Int64(fields[11]), let system = Int64(fields[12]) else { return .zero }
        return .milliseconds((user + system) * 1000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
    }
}
