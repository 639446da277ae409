import Foundation
import StoreFiles
import TestSupport
import Testing

/// `send --dry-run`.
@Suite struct RehearsalTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore(rows: 500)
    }

    @Test func `it says what would be sent, and calls nobody`() async throws {
        let sent = try await desk.run("send", "Recipes.sqlite", "--to", "./a", "--level", "6", "--json").expectSuccess()
        let wire = try #require(try sent.events().last?["wire"] as? Int)
        let before = try FolderListing(of: desk.path).entries
        // Nobody listens there.
        for target in ["127.0.0.1:9", "no-such-watch.invalid", "unix:nothing", "exec:touch called", "./b", "./a", "-"] {
            let outcome = try await desk.run("send", "Recipes.sqlite", "--to", target, "--level", "6", "--dry-run")
            outcome.expectSuccess()
            #expect(outcome.stdout == "")
            #expect(outcome.stderr.contains("would send Recipes: "))
            #expect(outcome.stderr.hasSuffix("if the receiver has none of it; nothing was sent\n"))
        }
        let told = try await desk.run(
            "send", "Recipes.sqlite", "--to", "127.0.0.1:9", "--level", "6", "--dry-run", "--json", "-q")
        told.expectSuccess()
        #expect(try told.eventNames() == ["copied", "progress", "would-send"])
        // Manifests differ in their times alone.
        let would = try #require(try told.events().last?["wire"] as? Int)
        #expect(abs(would - wire) < 16)
        #expect(try FolderListing(of: desk.path).entries == before)
        #expect(try desk.leftovers == [])
    }

    @Test func `it uses no number up, and refuses what send refuses`() async throws {
        try await desk.run("identity").expectSuccess()
        func number() async throws -> Int? {
            try await desk.run("send", "Recipes.sqlite", "--to", "./a", "-q").expectSuccess()
            let object = try await desk.run("inspect", "a", "--json").objects().first
            return (object?["manifest"] as? [String: Any])?["counter"] as? Int
        }
        let first = try #require(try await number())
        for _ in 0..<3 {
            try await desk.run("send", "Recipes.sqlite", "--to", "./a", "--dry-run").expectSuccess()
        }
        #expect(try await number() == first + 1)
        for (target, status) in [("./Recipes.sqlite", Int32(64)), ("./note", 73)] {
            try await desk.shell("echo precious > note").expectSuccess()
            let outcome = try await desk.run("send", "Recipes.sqlite", "--to", target, "--dry-run")
            #expect(outcome.status == .exited(status), "\(outcome.stderr)")
        }
        try await desk.run("send", "Nothing.sqlite", "--to", "./b", "--dry-run").expectFailure(
            66, "there is no store at Nothing.sqlite", hint: "check the path")
    }
}
