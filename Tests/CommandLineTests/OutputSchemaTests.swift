import Foundation
import TestSupport
import Testing

/// What programs read: `Protocol/OUTPUT.md`. `Desk.run` holds every object that any test asks for to the schema; here every
/// command is asked.
@Suite struct OutputSchemaTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    /// What each command writes, well or not, has a line at least.
    private func run(_ arguments: String..., status: Int32 = 0) async throws -> [[String: Any]] {
        let outcome = try await desk.run(arguments + ["--json", "--quiet"])
        #expect(outcome.status == .exited(status), "\(arguments) \(outcome.stderr)")
        let objects = try outcome.objects()
        #expect(!objects.isEmpty, "\(arguments)")
        return objects
    }

    @Test func `every command writes what the schema says`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: "DELETE")
        _ = try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 20_000))
        try desk.makeStore()
        _ = try await run("metadata", "Photos.sqlite", "--set", "app=4.2")
        _ = try await run("metadata", "Recipes.sqlite")
        for store in ["Photos.sqlite", "Recipes.sqlite"] {
            _ = try await run(
                "send", store, "--to", "./\(store).shipment", "--exclude",
                store == "Photos.sqlite" ? "ZRECIPE" : "recipe")
            _ = try await run("receive", "--into", "inbox", "--from", "./\(store).shipment")
            _ = try await run("verify", "\(store).shipment")
            _ = try await run("inspect", "\(store).shipment")
        }
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Bread')")
        _ = try await run("send", "Recipes.sqlite", "--to", "exec:$SHIP receive --into inbox --from - -q")
        _ = try await run("holdings", "--into", "inbox", "--hold", "0s")
        let listed = try await run("list", "--into", "inbox")
        #expect(listed.count == 3)
        for line in listed {
            let (folder, path) = (line["folder"] as? String, line["path"] as? String)
            #expect(path == folder.map { "\($0)/\(line["name"] ?? "").sqlite" })
        }
        #expect(try await run("status", "--into", "inbox").count == 2)
        #expect(try await run("verify", "inbox").allSatisfy { $0["name"] is String && $0["folder"] is String })
        #expect(try await run("verify", "Recipes.sqlite").first?["path"] as? String == "Recipes.sqlite")
        _ = try await run("inspect", "inbox")
        _ = try await run("rollback", "Recipes", "--into", "inbox")
        #expect(try await run("list", "--into", "inbox").contains { $0["onHoldSince"] != nil })
        _ = try await run("rollback", "Recipes", "--into", "inbox", "--release")
        _ = try await run("rollback", "Recipes", "--into", "inbox", "--allow-again")
        let pruned = try await run("prune", "--into", "inbox", "--keep", "1", "--dry-run")
        #expect(pruned.first?["outcome"] as? String == "would-remove")
        _ = try await run("prune", "--into", "inbox", "--keep", "1")

        _ = try await run("copy", "Photos.sqlite", "--to", "copies")
        _ = try await run("copy", "Recipes.sqlite", "--as", "Recipes.base.sqlite")
        _ = try await run("adopt", "Recipes.base.sqlite", "--into", "other")
        #expect(try await run("list", "--into", "other").first?["isAdopted"] as? Bool == true)
        _ = try await run("bases", "--add", "Recipes.base.sqlite", "Recipes.sqlite")
        let kept = try await run("copy", "Photos.sqlite", "--keep-in", "kept", "--tag", "a")
        #expect(
            kept.first?["folder"] as? String == (try await run("copies", "--in", "kept")).first?["folder"] as? String)
        let copy = try #require(kept.first?["folder"] as? String)
        let restored = try await run("restore", copy, "--over", "Photos.sqlite").first?["path"] as? String
        #expect(restored?.hasSuffix("Photos.sqlite") == true)
        _ = try await run("move", "Photos.sqlite", "--to", "moved", "--remove-old")
        #expect(try await run("destroy", "moved/Photos.sqlite").first?["path"] as? String == "moved/Photos.sqlite")

        let id = try #require(try await run("identity", "--identity", "other").first?["id"] as? String)
        _ = try await run("trust", id, "--name", "watch", "--store", "Recipes")
        _ = try await run("peers")
        _ = try await run("bases")
        _ = try await run("bases", "--remove-all")
        _ = try await run("distrust", "watch")
        #expect(try await run("demo").count >= 10)
    }

    @Test func `every command says as an object why it fails`() async throws {
        for arguments in [
            ["send", "None.sqlite", "--to", "./a"], ["receive", "--into", "inbox", "--from", "./none"],
            ["list", "--into", "none"], ["status", "--into", "none"], ["holdings", "--into", "none"],
            ["watch", "--into", "none"],
            ["rollback", "None", "--into", "none"], ["adopt", "none.sqlite", "--into", "inbox"],
            ["prune", "--into", "none"], ["copy", "None.sqlite", "--to", "copies"], ["copies", "--in", "none"],
            ["restore", "none", "--over", "None.sqlite"], ["move", "None.sqlite", "--to", "there"],
            ["destroy", "None.sqlite"], ["metadata", "None.sqlite"], ["verify", "none"], ["inspect", "none"],
            ["distrust", "nobody"], ["trust", "nobody"], ["holdings", "--into", "none", "--for", "nobody"],
            ["bases", "--remove", "None"],
        ] {
            let outcome = try await desk.run(arguments + ["--json"])
            #expect(outcome.status == .exited(66), "\(arguments) \(outcome.stderr)")
            let last = try #require(try outcome.objects().last)
            #expect(outcome.complaints.first == "ship-store: error: \(last["error"] ?? "")")
            #expect(outcome.complaints.dropFirst().first == (last["hint"] as? String).map { "ship-store: hint: \($0)" })
        }
        for arguments in [
            ["identity", "--qr"], ["demo", "--nonsense"], ["peers", "--nonsense"], ["nonsense"],
        ] {
            let outcome = try await desk.run(arguments + ["--json"])
            #expect(outcome.status == .exited(64))
            #expect(try outcome.objects().last?["status"] as? Int == 64)
        }
    }

    @Test func `every event of a receiver names its session, its peer and its store`() async throws {
        try desk.makeStore()
        try desk.makeStore("Other.sqlite")
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--json", "--user-version", "0")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        try TestStore.make(at: desk["Other.sqlite"], sql: "PRAGMA user_version = 7")
        #expect(try await desk.run("send", "Other.sqlite", "--to", receiver.address).status == .exited(65))
        let stopped = try await receiver.stop()
        try stopped.expectOutput(of: "receive")
        let events = try stopped.events()
        #expect(
            events.map { $0["session"] as? Int }.compactMap(\.self) == events.dropFirst().map { $0["session"] as? Int })
        for (session, name, last) in [(1, "Recipes", "finished"), (2, "Other", "failed")] {
            let own = events.filter { $0["session"] as? Int == session }
            #expect(own.first?["event"] as? String == "connected" && own.last?["event"] as? String == last)
            #expect(own.dropFirst().allSatisfy { $0["name"] as? String == name })
            #expect(Set(own.map { $0["peer"] as? String }).count == 1)
        }
    }

    @Test func `every event of a watcher has its time`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "exec:$SHIP receive --into inbox --from -").expectSuccess()
        let watcher = try desk.start("watch", "--into", "inbox", "--once", "--json")
        _ = try await watcher.waitForLine(containing: "watching ")
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Bread')")
        try await desk.run("send", "Recipes.sqlite", "--to", "exec:$SHIP receive --into inbox --from -").expectSuccess()
        let outcome = try await watcher.wait(timeout: .seconds(30))
        try outcome.expectOutput(of: "watch")
        #expect(try outcome.events().map { $0["event"] as? String } == ["current", "changed"])
    }

    @Test func `demo --quiet says nothing`() async throws {
        let outcome = try await desk.run("demo", "-q").expectSuccess()
        #expect(outcome.stdout == "" && outcome.stderr == "")
    }
}
