import StoreFiles
import TestSupport
import Testing

/// `rollback`, `prune`, and what `list` says of them.
@Suite struct RollbackCommandTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    /// Ships the next state of the store.
    private func ship(to receiver: Receiver) async throws {
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Pie')")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
    }

    private func rows() async throws -> String {
        let count = try await desk.shell("sqlite3 -readonly inbox/Recipes.sqlite 'SELECT count(*) FROM recipe'")
        return String(count.stdout.prefix { $0 != "\n" })
    }

    @Test func `an operator goes back beside a receiver at work, and the same store stays out`() async throws {
        let receiver = try await desk.listen()
        for _ in 1...3 { try await ship(to: receiver) }
        let rollback = try await desk.run("rollback", "Recipes", "--into", "inbox", "--json").expectSuccess()
        #expect(
            rollback.stderr == "rolled back: generation 2 of Recipes is current, and 3 is not any more\n"
                + "no shipment of Recipes comes in until `ship-store rollback Recipes --into inbox --release`\n")
        #expect(rollback.stdout == #"{"from":3,"name":"Recipes","onHold":true,"to":2}"# + "\n")
        #expect(try await rows() == "5")

        let held = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(held.map { $0["onHoldSince"] is String } == [false, true, false])
        let since = try #require(held[1]["onHoldSince"] as? String)
        #expect(try await desk.run("list", "--into", "inbox").stdout.contains("no shipment comes in since \(since)"))
        for change in ["INSERT INTO recipe(title) VALUES ('Cake')", "DELETE FROM recipe WHERE title = 'Cake'"] {
            try TestStore.make(at: desk["Recipes.sqlite"], sql: change)
            try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
                73,
                "the receiver refused the shipment: the receiver's operator went back to an older generation of "
                    + "Recipes at \(since), and holds it there",
                hint: "ask the operator there to say `ship-store rollback NAME --into INBOX --release`")
        }
        let released = try await desk.run("rollback", "Recipes", "--into", "inbox", "--release", "--json")
        released.expectSuccess()
        #expect(released.stderr == "shipments of Recipes come in again\n")
        #expect(released.stdout == #"{"name":"Recipes","released":true}"# + "\n")
        let again = try await desk.run("rollback", "Recipes", "--into", "inbox", "--release")
        #expect(again.stderr == "Recipes was not held\n")

        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            73,
            "the receiver refused the shipment: the receiver's operator went back from this very store, "
                + "its generation 3 of Recipes",
            hint: "send another state of the store, or ask the operator there to say "
                + "`ship-store rollback NAME --into INBOX --allow-again`")
        let list = try await desk.run("list", "--into", "inbox")
        #expect(list.lines.map { $0.prefix(1) } == [" ", " ", " ", "*", " ", " ", " "])
        #expect(list.lines.indices.filter { list.lines[$0].contains(", rolled back 20") } == [6])
        let objects = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(objects.map { $0["rolledBackAt"] is String } == [false, false, true])
        #expect(objects.allSatisfy { $0["installedAt"] is String && $0["isHeld"] is Bool && $0["path"] is String })

        // Another state comes in, under a number of its own; then the operator changes their mind.
        try await ship(to: receiver)
        #expect(try await rows() == "7")
        let forward = try await desk.run("rollback", "Recipes", "--into", "inbox", "--to", "3").expectSuccess()
        #expect(forward.stderr.hasPrefix("rolled back: generation 3 of Recipes is current, and 4 is not any more\n"))
        #expect(try await rows() == "6")
        // The newest is 4, so that the store is held again.
        let same = try await desk.run("rollback", "Recipes", "--into", "inbox", "--to", "3")
        #expect(
            same.stderr == "generation 3 of Recipes is current already\n"
                + "no shipment of Recipes comes in until `ship-store rollback Recipes --into inbox --release`\n")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--release").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            73,
            "the receiver refused the shipment: the receiver's operator went back from this very store, "
                + "its generation 4 of Recipes",
            hint: "send another state of the store, or ask the operator there to say "
                + "`ship-store rollback NAME --into INBOX --allow-again`")
        let allowed = try await desk.run("rollback", "Recipes", "--into", "inbox", "--allow-again").expectSuccess()
        #expect(allowed.stderr == "1 generation of Recipes may come in again\n")
        let sent = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        #expect(sent.stderr.contains("installed Recipes as generation 5: "))
        try await receiver.stop().expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `through a pipe too, and the receiver's hint helps`() async throws {
        try await desk.shell(
            """
            $SHIP send Recipes.sqlite --to 1.shipment
            sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('Pie')"
            $SHIP send Recipes.sqlite --to 2.shipment
            for n in 1 2; do $SHIP receive --into inbox --from $n.shipment; done
            $SHIP rollback Recipes --into inbox
            """
        ).expectSuccess()
        let held = try await desk.run("receive", "--into", "inbox", "--from", "2.shipment")
        #expect(held.status == .exited(73))
        #expect(
            held.complaints.last
                == "ship-store: hint: release it with `ship-store rollback Recipes --into INBOX --release`, "
                + "or go forward with --to")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--release").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "2.shipment").expectFailure(
            73, "the receiver's operator went back from this very store, its generation 2 of Recipes",
            hint:
                "allow it again with `ship-store rollback Recipes --into INBOX --allow-again`, or go forward with --to")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--allow-again").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "2.shipment").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a damaged generation does not become current again`() async throws {
        let receiver = try await desk.listen()
        for _ in 1...2 { try await ship(to: receiver) }
        try await receiver.stop().expectSuccess()
        try await desk.shell(
            "cd inbox/.ship-store/Recipes/generations/1-*; chmod 600 Recipes.sqlite; printf x >> Recipes.sqlite"
        ).expectSuccess()
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectFailure(
            65, "Recipes.sqlite is not what its digest says",
            hint: "send it again, or go to another generation with `ship-store rollback Recipes --into inbox --to N`: "
                + "`ship-store verify inbox` tells which are sound. "
                + "`ship-store receive --into inbox --from PUBLICATION`, started anew, brings the newest one")
        #expect(try await rows() == "5")
        #expect((try? PlatformCalls.status(of: desk["inbox/.ship-store/Recipes/rollback.json"])) == nil)
    }

    @Test func `list says that it is not known what was rolled back`() async throws {
        let receiver = try await desk.listen()
        for _ in 1...2 { try await ship(to: receiver) }
        try await receiver.stop().expectSuccess()
        try await desk.run("rollback", "Recipes", "--into", "inbox", "-q").expectSuccess()
        let record = "inbox/.ship-store/Recipes/rollback.json"
        for line in ["echo > \(record)", "rm \(record); mkdir \(record)"] {
            try await desk.shell(line).expectSuccess()
            let listed = try await desk.run("list", "--into", "inbox")
            #expect(listed.status == .exited(0))
            #expect(listed.stderr.contains("warning: \(record)") && listed.stderr.contains("--allow-again"))
        }
        // An empty folder is no obstacle to a record.
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--allow-again").expectSuccess()
        #expect(try await desk.run("list", "--into", "inbox").expectSuccess().stderr == "")
    }

    @Test func `there is nothing to go back to`() async throws {
        let receiver = try await desk.listen()
        try await ship(to: receiver)
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectFailure(
            66, "there is no generation of Recipes to go back to",
            hint: "see `ship-store list --into INBOX`; one that was rolled back itself is named with --to")
        try await desk.run("rollback", "Recipes", "--into", "inbox", "--to", "7").expectFailure(
            66, "there is no generation 7 of Recipes",
            hint: "see `ship-store list --into INBOX` for those that are kept")
        try await desk.run("rollback", "Tea", "--into", "inbox").expectFailure(
            66, "there is no store Tea in the inbox", hint: "see `ship-store list --into INBOX`")
        try await desk.run("rollback", "Tea", "--into", "nowhere").expectFailure(
            66, "nowhere is no inbox", hint: "receive into it first: ship-store receive --into nowhere")
        try await desk.run("prune", "--into", "inbox", "Tea").expectFailure(
            66, "there is no store Tea in the inbox", hint: "see `ship-store list --into INBOX`")
        try await desk.run("prune", "--into", "nowhere").expectFailure(
            66, "nowhere is no inbox", hint: "receive into it first: ship-store receive --into nowhere")
        try await receiver.stop().expectSuccess()
    }

    @Test func `prune says what would go, and removes it`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--keep", "10")
        for _ in 1...4 { try await ship(to: receiver) }
        let dry = try await desk.run("prune", "--into", "inbox", "--keep", "2", "--dry-run").expectSuccess()
        #expect(dry.lines == ["would go  Recipes  1", "would go  Recipes  2"])
        let young = try await desk.run("prune", "--into", "inbox", "Recipes", "--keep", "2", "--keep-for", "7d")
        #expect((young.stdout, young.stderr) == ("", "nothing is to go\n"))
        try await desk.shell("touch -d '8 days ago' inbox/.ship-store/Recipes/generations/1-*").expectSuccess()
        let old = try await desk.run("prune", "--into", "inbox", "--keep", "2", "--keep-for", "1w")
        #expect(old.lines == ["removed  Recipes  1"])
        let all = try await desk.run("prune", "--into", "inbox", "--keep", "1", "--json").objects()
        #expect(all.map { $0["generation"] as? Int } == [2, 3])
        #expect(all.allSatisfy { $0["outcome"] as? String == "removed" && $0["name"] as? String == "Recipes" })
        try await ship(to: receiver)
        #expect(
            try await desk.run("list", "--into", "inbox").lines.filter { !$0.hasPrefix("   installed ") }
                .map { $0.prefix(18) } == ["   name     number", "   Recipes       4", "*  Recipes       5"])
        try await receiver.stop().expectSuccess()
        #expect(try desk.leftovers == [])
    }
}
