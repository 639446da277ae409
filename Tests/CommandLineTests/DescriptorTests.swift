import StoreFiles
import TestSupport
import Testing

/// A receiver that may open few files: what it cannot do now it says, nothing hangs, and a signal ends it.
@Suite struct DescriptorTests {
    /// Too few for anything, for a listener, for a session, for a checker beside it, for a few sessions.
    @Test(arguments: [12, 16, 20, 22, 24, 26, 28, 30, 31, 32, 34, 36, 38, 40, 44, 48, 56, 64])
    func `a shipment arrives, or is to be tried again`(limit: Int) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let outcome = try await desk.bash(
            """
            mkdir -m 700 d
            (ulimit -n \(limit); exec "$SHIP" receive --into in --listen unix:d/s) >out 2>err & pid=$!
            for i in $(seq 100); do [ -S d/s ] || ! kill -0 $pid 2>/dev/null || sleep 0.05; done
            sent=none
            if [ -S d/s ]; then sent=0; timeout -k 1 20 "$SHIP" send Recipes.sqlite --to unix:d/s -q 2>senderr || sent=$?; fi
            # A group of its own, whose sleep goes with it: that has the pipes of this test open.
            kill $pid 2>/dev/null || true; set -m; (sleep 10; kill -9 $pid) >/dev/null 2>&1 & killer=$!; set +m
            ended=0; wait $pid || ended=$?; kill -- -$killer 2>/dev/null || true
            echo $sent $ended
            """)
        let words = outcome.stdout.split(whereSeparator: \.isWhitespace).map(String.init)
        let said = try await desk.shell("cat err senderr 2>/dev/null || true").stdout
        let (sent, ended) = (words.first ?? "", words.last ?? "")
        #expect(ended != "137", "it does not end: \(said)")
        switch sent {
        case "0": #expect(try desk.hasInstalled("Recipes", in: "in", from: "Recipes.sqlite"))
        case "none": #expect(ended != "0" && said.contains("ship-store: error: "), "\(said)")
        // No place, or no child, now; or the listener could not take the connection.
        default: #expect(["69", "75", "76"].contains(sent) && ended == "0", "\(words): \(said)")
        }
    }

    @Test func `programs hear of it, too`() async throws {
        let desk = try Desk()
        let outcome = try await desk.bash(#"ulimit -n 15; "$SHIP" list --into inbox --json --log-format json"#)
        #expect(outcome.status == .exited(75))
        #expect(try outcome.objects().map { $0["status"] as? Int } == [75])
        #expect(outcome.stderr.hasPrefix("{") && outcome.stderr.contains(#""level":"error""#), "\(outcome.stderr)")
    }

    @Test(arguments: [(12, 96), (60, 256)])
    func `many senders at once all arrive where descriptors allow few sessions`(senders: Int, limit: Int) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let outcome = try await desk.bash(
            """
            mkdir -m 700 d
            (ulimit -n \(limit); exec "$SHIP" receive --into in --listen unix:d/s) >out 2>err & pid=$!
            for i in $(seq 100); do [ -S d/s ] || sleep 0.05; done
            for i in $(seq \(senders)); do
                (timeout 50 "$SHIP" send Recipes.sqlite --name s$i --to unix:d/s -q || echo "$i ended with $?") 2>&1 & senders="${senders-} $!"
            done
            wait $senders
            kill $pid; wait $pid
            "$SHIP" list --into in --json | wc -l
            """)
        #expect(
            outcome.stdout.split(whereSeparator: \.isWhitespace).map(String.init) == ["\(senders)"],
            "\(outcome.stdout) \(outcome.stderr)")
    }
}
