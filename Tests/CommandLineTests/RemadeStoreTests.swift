import Foundation
import SystemPackage
import TestSupport
import Testing

/// Following stores that are made anew, replaced by others, or locked for long.
@Suite(.serialized) struct RemadeStoreTests {
    @Test func `a store that stays without rows for a while is shipped once it has some`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 200)
        let receiver = try await desk.listen()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", receiver.address, "--follow")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await desk.shell("rm -f Recipes.sqlite Recipes.sqlite-wal Recipes.sqlite-shm").expectSuccess()
        try desk.execute("CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT)", in: "Recipes.sqlite")
        _ = try await sender.waitForLine(containing: "was not shipped")
        // Longer than the attempts after which a store is not followed any more.
        try await Task.sleep(for: .seconds(9))
        #expect(!sender.hasEnded)
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await desk.waitUntil(within: .seconds(30)) {
            try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite")
        }
        try await sender.stopFollowing()
        #expect(try await receiver.stop().status == .exited(0))
    }

    @Test func `what is no store for a while is shipped once it is one again`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 200)
        let receiver = try await desk.listen()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", receiver.address, "--follow")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await desk.shell("cp Recipes.sqlite mended; head -c 50000 /dev/zero | tr '\\0' x > Recipes.sqlite")
            .expectSuccess()
        _ = try await sender.waitForLine(containing: "was not shipped")
        // Longer than the attempts after which a store is not followed any more.
        try await Task.sleep(for: .seconds(9))
        #expect(!sender.hasEnded)
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "mended")
        try await desk.shell("rm -f Recipes.sqlite-wal Recipes.sqlite-shm; cat mended > Recipes.sqlite").expectSuccess()
        try await desk.waitUntil(within: .seconds(60)) {
            try desk.hasInstalled("Recipes", in: "inbox", from: "mended")
        }
        let outcome = try await sender.stopFollowing()
        // For the same reason it is said once.
        #expect(outcome.stderr.components(separatedBy: "was not shipped").count == 2, "\(outcome.stderr)")
        #expect(try await receiver.stop().status == .exited(0))
    }

    @Test func `a wrong path is no store that is waited for`() async throws {
        let desk = try Desk()
        try await desk.shell("yes text | head -c 50000 > Recipes.sqlite").expectSuccess()
        let receiver = try await desk.listen()
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--follow")
        #expect(outcome.status == .exited(65), "\(outcome.stderr)")
        #expect(try await receiver.stop().status == .exited(0))
    }

    @Test func `of several stores it is said which one is not followed any more, and the others go on`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 20)
        try desk.makeStore("Notes.sqlite", rows: 20)
        let receiver = try await desk.listen()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "Notes.sqlite", "--to", receiver.address, "--follow", "--json")
        for name in ["Recipes", "Notes"] { try await desk.arrives(name, from: "\(name).sqlite") }
        try desk.execute("CREATE TABLE other(x); INSERT INTO other VALUES (1)", in: "other.sqlite")
        try await desk.shell("rm -f Notes.sqlite-wal Notes.sqlite-shm; mv other.sqlite Notes.sqlite").expectSuccess()
        let line = try await sender.waitForLine(containing: "not followed any more")
        #expect(line.contains("Notes"))
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        try await sender.signalOnceReady(SIGINT)
        let outcome = try await sender.wait(timeout: .seconds(20))
        // That of the store that is not there any more for the receiver.
        #expect(outcome.status == .exited(73), "\(outcome.stderr)")
        let events = try outcome.events()
        #expect(events.last?["status"] as? Int == 73)
        #expect(events.count { $0["event"] as? String == "unfollowed" && $0["name"] as? String == "Notes" } == 1)
        #expect(try await receiver.stop().status == .exited(0))
    }

    @Test func `what waited for the app's lock is no reason to wait again`() async throws {
        let desk = try Desk()
        try desk.execute(
            "CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO recipe(title) VALUES ('first')",
            in: "Recipes.sqlite")
        let receiver = try await desk.listen()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", receiver.address, "--follow")
        try await desk.arrives("Recipes", from: "Recipes.sqlite")
        // The copy waits for most of this time.
        let app = try ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import sqlite3, time
                app = sqlite3.connect("Recipes.sqlite", isolation_level=None)
                app.execute("INSERT INTO recipe(title) VALUES ('second')")
                app.execute("BEGIN EXCLUSIVE")
                time.sleep(5)
                app.execute("INSERT INTO recipe(title) VALUES ('third')")
                app.execute("COMMIT")
                """,
            ], in: desk.path)
        #expect(try await app.wait(timeout: .seconds(30)).status == .exited(0))
        try await Task.sleep(for: .milliseconds(300))
        try desk.execute("INSERT INTO recipe(title) VALUES ('fourth')", in: "Recipes.sqlite")
        // A tenth of the time would be 45 s.
        try await desk.waitUntil(within: .seconds(20)) {
            try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite")
        }
        try await sender.stopFollowing()
        #expect(try await receiver.stop().status == .exited(0))
    }
}
