import Foundation
import TestSupport
import Testing

/// What goes to standard output, and what to people.
@Suite struct OutputTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    @Test func `--json is one event a line, on both sides`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--once", "--json")
        let sent = try await desk.run(
            "send", "Recipes.sqlite", "--to", receiver.address, "--json", "--quiet", "--meta", "model=7")
        sent.expectSuccess()
        #expect(sent.stderr == "")
        #expect(try sent.eventNames() == ["connected", "copied", "progress", "sent", "finished"])
        let receipt = try #require(try sent.events().last?["receipt"] as? [String: Any])
        #expect(receipt["name"] as? String == "Recipes" && receipt["generation"] as? Int == 1)
        #expect(receipt["outcome"] as? String == "installed")
        let manifest = try #require(try sent.events().first { $0["event"] as? String == "copied" }?["manifest"])
        #expect(((manifest as? [String: Any])?["metadata"] as? [String: String]) == ["model": "7"])
        let received = try await receiver.program.wait()
        #expect(
            try received.eventNames() == [
                "listening", "connected", "offered", "progress", "verifying", "checked", "finished",
            ])
    }

    @Test func `--json tells of a failure too`() async throws {
        let sent = try await desk.run("send", "nothing.sqlite", "--to", "./a", "--json")
        #expect(sent.status == .exited(66))
        let failure = try #require(try sent.events().last)
        #expect(failure["event"] as? String == "error")
        #expect(failure["status"] as? Int == 66)
        #expect(failure["error"] as? String == "there is no store at nothing.sqlite")
        #expect(failure["hint"] as? String == "check the path")
        let received = try await desk.run(
            "receive", "--into", "inbox", "--from", "-", "--json", input: .bytes(Array("hello".utf8)))
        #expect(received.status == .exited(76))
        #expect(try received.events().last?["error"] as? String == "this is no ship-store stream")
    }

    /// Both want the standard output.
    @Test func `--json goes with a sender that awaits no answer, and refuses one that does`() async throws {
        let piped = try await desk.bash(
            "set -o pipefail; $SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - --json -q | cat"
        ).expectSuccess()
        try piped.expectOutput(of: "receive")
        #expect(try piped.eventNames().last == "finished")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let asked = try await desk.shell(
            """
            status=0
            $SHIP send Recipes.sqlite --to 'exec:$SHIP receive --into other --from - --json 2> words' -q || status=$?
            cat words; exit $status
            """)
        #expect(asked.status == .exited(76))
        #expect(asked.stdout.contains("the sender awaits an answer, and there is no way back on this link"))
        #expect(try desk.leftovers == [])
    }

    @Test func `--quiet says nothing but errors`() async throws {
        let line = "$SHIP send Recipes.sqlite --to - --quiet | $SHIP receive --into inbox --from - -q"
        let piped = try await desk.shell(line).expectSuccess()
        #expect(piped.stderr == "" && piped.stdout == "")
        for arguments in [
            ["send", "Recipes.sqlite", "--to", "./a"], ["copy", "Recipes.sqlite", "--to", "copies"],
            ["list", "--into", "inbox"], ["verify", "inbox"], ["inspect", "Recipes.sqlite"],
        ] {
            let outcome = try await desk.run(arguments + ["--quiet"]).expectSuccess()
            #expect(outcome.stderr == "", "\(arguments)")
        }
        try await desk.run("send", "nothing.sqlite", "--to", "./a", "--quiet").expectFailure(
            66, "there is no store at nothing.sqlite", hint: "check the path")
    }

    @Test(arguments: ["inspect Recipes.sqlite", "--version", "--help", "send --help"])
    func `data that cannot be written is an error`(command: String) async throws {
        let outcome = try await desk.shell("test -e /dev/full || exit 99; $SHIP \(command) > /dev/full")
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(74))
        #expect(
            outcome.complaints
                == ["ship-store: error: what should go to standard output is lost: No space left on device"])
    }

    @Test(arguments: ["receive --into inbox --from - <&-", "send Recipes.sqlite --to - >&-"])
    func `a standard stream that is closed is told as such`(command: String) async throws {
        let outcome = try await desk.shell("$SHIP \(command)")
        #expect(outcome.status == .exited(74))
        #expect(outcome.complaints.last == "ship-store: hint: it is closed: pipe it, or name a file")
    }

    @Test(arguments: [
        "list --into .", "identity", "copy Recipes.sqlite --to kept", "send --help", "inspect Recipes.sqlite",
    ])
    func `data for a closed stream ends the command`(command: String) async throws {
        let outcome = try await desk.shell("timeout 20 $SHIP \(command) >&-")
        #expect(outcome.status == .exited(command.hasPrefix("list") ? 66 : 74), "\(outcome.stderr)")
        let silent = try await desk.shell("timeout 20 $SHIP \(command) >&- 2>&- <&-")
        #expect(silent.status == outcome.status)
    }

    @Test func `data that was lost is told after a signal as well`() async throws {
        let outcome = try await desk.shell(
            """
            test -e /dev/full || exit 99
            $SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - -q
            $SHIP watch --into inbox --json > /dev/full 2> words &
            until grep -q watching words; do sleep 0.01; done
            sleep 0.5; kill $!; status=0; wait $! || status=$?
            cat words >&2; exit $status
            """)
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(74))
        #expect(
            outcome.complaints
                == ["ship-store: error: what should go to standard output is lost: No space left on device"])
    }

    /// A pipe whose reader is gone before anything is written.
    @Test(arguments: [
        "receive --into inbox --from ./1.shipment 2>&5", "receive --into inbox --from ./1.shipment --json >&5 2>&5",
        "send Recipes.sqlite --to ./2.shipment --json >&5", "list --into old >&5", "verify old --json >&5",
        "watch --into old --json >&5", "--version >&5",
    ])
    func `a command goes on when its words have no reader`(command: String) async throws {
        try await desk.shell(
            """
            $SHIP send Recipes.sqlite --to ./1.shipment -q
            $SHIP receive --into old --from ./1.shipment -q
            mkfifo unread; exec 4<>unread 5>unread 4<&-
            timeout 30 $SHIP \(command)
            """
        ).expectSuccess()
        if command.hasPrefix("receive") { #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite")) }
        #expect(try desk.leftovers == [])
    }

    /// script(1) gives a terminal; without it there is nothing to test.
    @Test(arguments: [100, 60, 40, 20])
    func `on a terminal there is one line of progress, however narrow it is`(columns: Int) async throws {
        try desk.makeLargeStore(megabytes: 8)
        let outcome = try await desk.shell(
            """
            command -v script > /dev/null || exit 99
            script -qec 'stty columns \(columns); $SHIP send Large.sqlite --to ./a --level 9' /dev/null
            """)
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(0))
        let lines = outcome.stdout.split(separator: "\r\n", omittingEmptySubsequences: true)
        // Each is drawn in the place of the one before, and takes no more columns than there are.
        let drawn = lines.flatMap { $0.split(separator: "\r\u{1B}[K").dropLast() }
        #expect(drawn.allSatisfy { $0.count < columns }, "\(drawn)")
        #expect(drawn.contains { $0.contains("100 %") } && !drawn.contains { $0.hasSuffix("0.000 s left") })
        if columns == 100 {
            #expect(drawn.contains { $0.contains("████████████████████████ 100 % of 8.") && $0.contains("/s") })
        }
        // Nothing of them is left in the end.
        #expect(lines.count == 2 && lines.last?.contains("\r\u{1B}[Kwrote Large to ./a: ") == true, "\(lines)")
    }

    @Test func `what is current already is named, and who has never been connected is not told to be so no longer`()
        async throws
    {
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen").expectSuccess()
        for _ in 0..<2 {
            let outcome = try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen", "--json")
            let finished = try outcome.objects().filter { $0["event"] as? String == "finished" }
            #expect(finished.map { $0["name"] as? String } == ["Recipes"])
        }
        let follower = try desk.start("receive", "--into", "inbox", "--from", "unix:nobody", "--follow")
        let line = try await follower.waitForLine(containing: "trying again")
        #expect(!line.contains("no longer"))
        follower.signal(SIGTERM)
        #expect(try await follower.wait().status == .exited(0))
    }
}
