import SystemPackage
import TestSupport
import Testing

/// Standard streams that somebody holds open and does not read.
@Suite struct FullPipeTests {
    /// Descriptor 3 is a pipe that is full.
    private static let full = "mkfifo full; exec 3<>full; head -c 65536 /dev/zero >&3;"

    /// Says in how many seconds the program ended, and how.
    private static func ended(_ command: String, signal: String? = nil) -> String {
        let stop = signal.map { "sleep 1; kill -\($0) $p;" } ?? ""
        return """
            \(full) \(command) & p=$!; \(stop) n=0
            while kill -0 $p 2> /dev/null && [ $n -lt 80 ]; do sleep 0.1; n=$((n + 1)); done
            kill -9 $p 2> /dev/null || true; s=0; wait $p || s=$?; echo "$n $s"
            """
    }

    private func outcome(_ command: String, signal: String? = nil) async throws -> (tenths: Int, status: Int) {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "./file").expectSuccess()
        try await desk.run("receive", "--from", "./file", "--into", "inbox").expectSuccess()
        let words = try await desk.shell(Self.ended(command, signal: signal)).lines.last ?? ""
        let numbers = words.split(separator: " ").compactMap { Int($0) }
        try #require(numbers.count == 2, "\(words)")
        return (numbers[0], numbers[1])
    }

    @Test(arguments: [
        ("$SHIP send Recipes.sqlite --to 127.0.0.1:1 2>&3", 69),
        ("$SHIP receive --from ./nothing --into inbox 2>&3", 66),
        ("$SHIP list --into inbox 2>&3 > /dev/null", 0),
    ])
    func `nobody is waited for who reads no messages`(command: (text: String, status: Int)) async throws {
        let outcome = try await outcome(command.text)
        #expect(outcome.status == command.status && outcome.tenths < 60, "\(outcome)")
    }

    @Test(arguments: [
        ("$SHIP receive --listen 127.0.0.1:0 --into other 2>&3", 0), ("$SHIP list --into inbox >&3", 74),
        ("$SHIP watch --into inbox --json >&3", 74),
        ("$SHIP send Recipes.sqlite --to 127.0.0.1:1 --follow 2>&3", 0),
    ])
    func `one signal ends what waits for a reader`(command: (text: String, status: Int)) async throws {
        let outcome = try await outcome(command.text, signal: "TERM")
        #expect(outcome.tenths < 60, "\(outcome)")
        #expect([command.status, 143].contains(outcome.status), "\(outcome)")
    }
}
