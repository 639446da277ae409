import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A publication of another device than the one that a store came from, whose numbers say nothing of this one's.
@Suite struct OtherPublisherTests {
    let desk: Desk

    /// `watch` trusts two publishers, and has five states of the first. The other one has published one, of other content.
    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        try await trust("old")
        for number in 1...5 {
            try publish(number)
            try await send("old")
        }
        try await desk.run("receive", "--into", "inbox", "--from", "dir:old", "--identity", "watch").expectSuccess()
        try publish(6)
        try await send("new")
    }

    private func publish(_ number: Int) throws {
        try desk.execute("INSERT INTO recipe(title) VALUES ('\(number)')", in: "Recipes.sqlite")
    }

    private func send(_ device: String) async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:\(device)", "--identity", device).expectSuccess()
    }

    private func trust(_ device: String, _ more: String...) async throws {
        let id = try await desk.id(of: device)
        try await desk.run(
            ["trust", id, "--name", device, "--role", "sender", "--store", "Recipes", "--identity", "watch"] + more
        ).expectSuccess()
    }

    private func receive() async throws -> ChildProgram.Outcome {
        try await desk.run("receive", "--into", "inbox", "--from", "dir:new", "--identity", "watch")
    }

    @Test func `comes in where it may take the store over`() async throws {
        try await trust("new", "--takes-over", "Recipes")
        try await receive().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
        try publish(7)
        try await send("new")
        try await receive().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite"))
    }

    @Test func `is refused where it may not, and not called unchanged`() async throws {
        try await trust("new")
        let outcome = try await receive()
        #expect(outcome.status == .exited(77), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("--takes-over Recipes"), "\(outcome.stderr)")
        #expect(try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite") == false)
    }
}
