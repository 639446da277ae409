import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Publications beside other ways to a receiver: what the numbers of shipments say, and what they do not.
@Suite struct PublishedNumberTests {
    let desk: Desk

    /// `old` publishes `Recipes` in `public`, of which a whole takes more than its changes.
    init() async throws {
        desk = try Desk()
        try desk.makeStore(rows: 2000)
        let id = try await desk.id(of: "old")
        try await desk.run("trust", id, "--name", "old", "--role", "sender", "--identity", "watch", "-q")
            .expectSuccess()
        try await publish()
        try await receive().expectSuccess()
    }

    private func change(_ text: String) throws {
        try desk.execute("INSERT INTO recipe(title) VALUES ('\(text)')", in: "Recipes.sqlite")
    }

    private func publish(to place: String = "public", _ device: String = "old", _ more: String...) async throws {
        try await desk.run(
            ["send", "Recipes.sqlite", "--to", "dir:\(place)", "--identity", device, "--replace"] + more
        ).expectSuccess()
    }

    private func receive(from place: String = "dir:public", _ more: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(["receive", "--into", "inbox", "--from", place, "--identity", "watch"] + more)
    }

    private func hasNewest() throws -> Bool { try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite") }

    @Test func `a state that came another way keeps nobody from the next one`() async throws {
        try change("direct")
        try await desk.run("send", "Recipes.sqlite", "--to", "./direct", "--identity", "old").expectSuccess()
        try await receive(from: "./direct").expectSuccess()
        for number in 1...4 {
            try change("\(number)")
            try await publish()
            try await receive().expectSuccess()
            #expect(try hasNewest())
        }
    }

    @Test func `a device that has lost count gets on where it is allowed to`() async throws {
        try await desk.shell("cp -r old early").expectSuccess()
        for number in 1...4 {
            try change("\(number)")
            try await publish()
        }
        try await receive().expectSuccess()
        try await desk.shell("rm -rf old; mv early old").expectSuccess()
        try change("after")
        try await publish(to: "other")
        try await desk.run("trust", "old", "--takes-over", "Recipes", "--identity", "watch", "-q").expectSuccess()
        try await receive(from: "dir:other").expectSuccess()
        #expect(try hasNewest())
    }

    @Test func `who is not trusted with a store says nothing of it`() async throws {
        let id = try await desk.id(of: "new")
        try await desk.run(
            "trust", id, "--name", "new", "--role", "sender", "--store", "Other", "--identity", "watch", "-q"
        ).expectSuccess()
        try await publish(to: "other", "new")
        try change("2")
        try await publish()
        let refused = try await receive(from: "dir:public", "--probe", "SELECT count(*) <= 2000 FROM recipe")
        #expect(refused.status == .exited(65), "\(refused.stderr)")
        let outcome = try await receive(from: "dir:other")
        #expect(outcome.status == .exited(77), "\(outcome.stderr)")
        let status = try await desk.run("status", "--into", "inbox", "--json")
        #expect(status.stdout.contains("failing"), "\(status.stdout)")
    }

    @Test func `a permission is left where the way around a state is all that came of it`() async throws {
        let id = try await desk.id(of: "new")
        try change("bad")
        try await publish(to: "other", "new")
        try desk.execute(
            "DELETE FROM recipe WHERE title = 'bad'; INSERT INTO recipe(title) VALUES ('good')", in: "Recipes.sqlite")
        try await publish(to: "other", "new")
        try await desk.run(
            "trust", id, "--name", "new", "--role", "sender", "--takes-over", "Recipes", "--identity", "watch", "-q"
        ).expectSuccess()
        try await receive(
            from: "dir:other", "--probe", "SELECT NOT EXISTS (SELECT 1 FROM recipe WHERE title = 'bad')"
        ).expectSuccess()
        #expect(try hasNewest())
    }

    @Test func `a damaged copy, of which the publication has lost an object, is no success`() async throws {
        try await desk.shell(
            """
            f=$(readlink -f inbox/Recipes.sqlite); chmod u+w "$f"; echo damage > "$f"
            rm "public/objects/$(ls -S public/objects | head -n 1)"
            """
        ).expectSuccess()
        let outcome = try await receive()
        #expect(outcome.status != .exited(0) && !outcome.complaints.isEmpty, "\(outcome.stderr)")
    }

    @Test func `what is halted is not installed, whatever is damaged`() async throws {
        try await desk.run("publish", "--halt", "dir:public", "--identity", "old").expectSuccess()
        try await desk.shell(
            "f=$(readlink -f inbox/Recipes.sqlite); chmod u+w \"$f\"; echo damage > \"$f\""
        ).expectSuccess()
        #expect(try await !receive().stderr.contains("installed"))
        try await desk.run("publish", "--resume", "dir:public", "--identity", "old").expectSuccess()
        try await receive().expectSuccess()
        #expect(try hasNewest())
    }
}
