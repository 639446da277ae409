import Foundation
import SystemPackage
import TestSupport
import Testing

/// Shipments between two processes, in every way in which a shell can connect them.
@Suite struct PipeTests {
    static let ways = [
        "$SHIP send Large.sqlite --to - | $SHIP receive --into inbox --from -",
        "$SHIP send Large.sqlite --to a.shipment; $SHIP receive --into inbox --from a.shipment",
        "$SHIP send Large.sqlite --to ./a; $SHIP receive --into inbox --from - < a",
        "$SHIP send Large.sqlite --to file:a; $SHIP receive --into inbox --from file:a",
        "$SHIP send Large.sqlite --to - > a; cat a | $SHIP receive --into inbox --from -",
        "$SHIP send Large.sqlite --to - > a; $SHIP receive --into inbox --from ./a",
        "mkfifo a.shipment; $SHIP send Large.sqlite --to a.shipment & $SHIP receive --into inbox --from a.shipment; wait $!",
        "mkfifo a; $SHIP send Large.sqlite --to - > a & $SHIP receive --into inbox --from - < a; wait $!",
        "$SHIP send Large.sqlite --to \"exec:$SHIP receive --into inbox --from -\"",
        "$SHIP send Large.sqlite --to 'exec:cat > a'; $SHIP receive --into inbox --from ./a",
        "$SHIP receive --into inbox --from \"exec:$SHIP send Large.sqlite --to -\"",
        "$SHIP receive --into inbox --from \"exec:$SHIP send Large.sqlite --to - | cat\"",
    ]

    @Test(arguments: ways.filter { !$0.contains("cat > a") })
    func `a store arrives whole`(way: String) async throws {
        let desk = try Desk()
        try desk.makeLargeStore()
        let outcome = try await desk.shell("set -e; " + way).expectSuccess()
        #expect(outcome.stdout == "")
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        #expect(try desk.leftovers == [])
        try await desk.run("verify", "inbox").expectSuccess()
    }

    @Test(arguments: [
        ("cat a b | $SHIP receive --into inbox --from -", 76),
        ("cat a b > c; $SHIP receive --into inbox --from ./c", 65),
        ("{ cat a; sleep 0.2; cat b; } | $SHIP receive --into inbox --from -", 76),
        ("{ cat a; echo; } | $SHIP receive --into inbox --from -", 76),
    ])
    func `what follows a shipment is not dropped without a word`(way: String, status: Int32) async throws {
        let desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Other.sqlite")
        try await desk.run("send", "Recipes.sqlite", "--to", "./a").expectSuccess()
        try await desk.run("send", "Other.sqlite", "--to", "./b").expectSuccess()
        let outcome = try await desk.shell(way)
        #expect(outcome.status == .exited(status))
        #expect(outcome.stderr.contains("was not received"), "\(outcome.stderr)")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a child that receives gives a receipt`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let send = "$SHIP send Recipes.sqlite --to \"exec:$SHIP receive --into inbox --from -\""
        let first = try await desk.shell(send).expectSuccess()
        #expect(first.stderr.contains("\ninstalled Recipes as generation 1: sent "))
        #expect(first.stderr.contains("\ninstalled Recipes, generation 1, in "))
        let second = try await desk.shell(send).expectSuccess()
        #expect(second.stderr.contains("\nunchanged: the receiver has Recipes already, as generation 1 (sent "))
    }

    @Test func `a child that reads ends with a sender that is killed`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", "exec:touch begun; cat > /dev/null; touch over")
        func wait(for name: String) async throws {
            for _ in 0..<200 {
                guard !FileManager.default.fileExists(atPath: desk[name].string) else { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            Issue.record("there is no \(name)")
        }
        try await wait(for: "begun")
        sender.signal(SIGKILL)
        try await wait(for: "over")
    }

    @Test func `without a receipt it says no more than where the shipment went`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let piped = try await desk.shell("$SHIP send Recipes.sqlite --to - > /dev/null").expectSuccess()
        #expect(piped.stderr.contains("wrote Recipes to standard output: "))
        let kept = try await desk.run("send", "Recipes.sqlite", "--to", "monday.shipment").expectSuccess()
        #expect(kept.stderr.contains("wrote Recipes to monday.shipment: "))
        #expect(kept.stdout == "")
    }

    @Test func `a pipe that nobody reads any more is said`() async throws {
        let desk = try Desk()
        try desk.makeLargeStore()
        let outcome = try await desk.shell(
            "{ $SHIP send Large.sqlite --to - || echo status $? >&2; } | head -c 1000 | wc -c")
        #expect(outcome.stderr.contains("ship-store: error: the other side is gone: it closed the link\n"))
        #expect(outcome.stderr.contains("status 76\n"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a child that fails is said`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "exec:exit 3").expectFailure(
            69, "the command of exec: ended with status 3", hint: "look for its own message")
        let missing = try await desk.run("receive", "--into", "inbox", "--from", "exec:no-such-command")
        #expect(missing.status == .exited(69))
        #expect(missing.complaints.first == "ship-store: error: the command of exec: ended with status 127")
        try await desk.run("send", "Recipes.sqlite", "--to", "exec:cat").expectFailure(
            76, "both sides want to do the same",
            hint: "one side must be `ship-store send`, the other `receive`")
    }
}
