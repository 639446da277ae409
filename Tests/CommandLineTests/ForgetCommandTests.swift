import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `forget`: a store of an inbox goes with all its generations.
@Suite struct ForgetCommandTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func ship(_ name: String = "Recipes.sqlite", to receiver: Receiver, rows: Int) async throws {
        try? PlatformCalls.removeFile(desk[name])
        try desk.makeStore(name, rows: rows)
        try await desk.run("send", name, "--to", receiver.address, "--quiet").expectSuccess()
    }

    private var inbox: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: desk["inbox"].string).sorted() }
    }

    /// Nothing is tested where this process may not mount anything.
    @Test func `nothing goes where the inbox is read-only`() async throws {
        try desk.makeStore()
        let outcome = try await desk.shell(
            """
            unshare -m true 2> /dev/null || exit 99
            $SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - -q
            exec unshare -m sh -c '
              mount --bind inbox inbox; mount -o remount,ro,bind inbox; exec "$SHIP" forget Recipes --into inbox'
            """)
        guard outcome.status != .exited(99) else { return }
        outcome.expectFailure(
            77, "the inbox inbox is on a read-only file system: nothing was forgotten",
            hint: "make it writable, as with `mount -o remount,rw`, then try again")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `everything of it goes, beside a receiver, and the next shipment is a first one`() async throws {
        let receiver = try await desk.listen()
        try await ship("Tea.sqlite", to: receiver, rows: 1)
        let before = try inbox
        for rows in 1...3 { try await ship(to: receiver, rows: rows) }
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
        let outcome = try await desk.run("forget", "Recipes", "--into", "inbox").expectSuccess()
        #expect(outcome.stderr == "forgot Recipes: 3 generations are gone\n")
        #expect(outcome.stdout == "")
        #expect(try inbox == before)
        let listed = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(listed.map { $0["name"] as? String } == ["Tea"])
        try await desk.run("verify", "inbox").expectSuccess()
        try await desk.run("forget", "Recipes", "--into", "inbox").expectFailure(
            66, "there is no store Recipes in the inbox", hint: "see `ship-store list --into INBOX`")
        // What was rolled back is welcome again.
        try await ship(to: receiver, rows: 3)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let forgotten = try await desk.run("forget", "Recipes", "--into", "inbox", "--json").objects().first
        #expect(forgotten?["generations"] as? [Int] == [1])
        #expect(forgotten?["name"] as? String == "Recipes")
        try await ship(to: receiver, rows: 4)
        try await receiver.stop().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    /// The lock is another program's, in another language: nothing of ours is in it.
    private static let reader = """
        import fcntl, os, sys
        fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_SH)
        print("held", flush=True)
        sys.stdin.read()
        """

    @Test func `while a reader holds any generation, all of them stay`() async throws {
        let receiver = try await desk.listen()
        for rows in 1...2 { try await ship(to: receiver, rows: rows) }
        let generations = desk["inbox/.ship-store/Recipes/generations"]
        let first = generations.appending(try #require(try Folder.names(in: generations).first))
        let reader = try ChildProgram("/usr/bin/env", ["python3", "-c", Self.reader, first.string], input: .pipe)
        _ = try await reader.waitForLine(containing: "held", on: .output)
        let before = try inbox
        try await desk.run("forget", "Recipes", "--into", "inbox").expectFailure(
            75, "a reader holds Recipes, generation 1",
            hint: "nothing has changed; let the reader go of it, then try again")
        #expect(try inbox == before)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        reader.closeInput()
        _ = try await reader.wait()
        try await desk.run("forget", "Recipes", "--into", "inbox").expectSuccess()
        #expect(try inbox == [".ship-store", ".ship-store/.format", ".ship-store/.lock"])
        try await receiver.stop().expectSuccess()
    }

    @Test func `who forgets what a sender was told is held is told so`() async throws {
        let receiver = try await desk.listen()
        try await ship(to: receiver, rows: 1)
        let holdings = try #require(try await desk.run("holdings", "--into", "inbox", "--quiet").objects().first)
        let until = try #require(holdings["until"] as? String)
        let outcome = try await desk.run("forget", "Recipes", "--into", "inbox", "--json")
        #expect(outcome.status == .exited(0))
        #expect(outcome.stderr.contains("a sender was told, in a holdings file, that Recipes is held until \(until)"))
        #expect(try outcome.objects().first?["leasedUntil"] as? String == until)
        try await receiver.stop().expectSuccess()
    }

    @Test func `errors`() async throws {
        try await desk.run("forget", "Recipes", "--into", "nowhere").expectFailure(
            66, "nowhere is no inbox", hint: "receive into it first: ship-store receive --into nowhere")
        let outcome = try await desk.run("forget", "../x", "--into", "inbox")
        #expect(outcome.status == .exited(64))
    }
}
