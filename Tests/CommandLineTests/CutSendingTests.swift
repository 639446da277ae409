import Foundation
import StoreFiles
import TestSupport
import Testing

/// Every level of compression over every link, cut at any moment by a signal or by the end of the other side: the sender
/// ends soon, and leaves nothing behind.
@Suite struct CutSendingTests {
    enum Way: String, CaseIterable, Sendable { case socket, unix, exec, pipe, file }

    enum Cut: Hashable, CaseIterable, Sendable { case interrupted, terminated, receiverDies }

    private let desk: Desk

    init() throws {
        desk = try Desk()
        // Rows enough for a dozen segments, of a kind that each level has work with.
        try TestStore.make(
            at: desk["Large.sqlite"],
            sql: """
                CREATE TABLE line(id INTEGER PRIMARY KEY, at REAL, name TEXT, words TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
                INSERT INTO line SELECT i, i / 7.0, 'customer ' || (i * 7919 % 1000), hex(randomblob(40)) FROM n;
                """)
    }

    @Test(arguments: Way.allCases) func `a sender ends soon`(way: Way) async throws {
        var random = RepeatableRandom(seed: UInt64(Way.allCases.firstIndex(of: way) ?? 0))
        var ends: [ChildProgram.Ending] = []
        // How long it takes where nobody interferes says when there is something to cut: machines differ, and programs get faster.
        let whole = try await ContinuousClock().measure { _ = try await end(of: way, 9, nil) }
        for level in 1...9 {
            for cut in Cut.allCases where way != .file || cut != .receiverDies {
                // In a short run each level is cut in one of the ways.
                guard Soak.isOn || (level + ends.count) % 4 == 0 || level == 9 else {
                    ends.append(.exited(0))
                    continue
                }
                let moment = whole * Double.random(in: 0.05...0.6, using: &random)
                ends.append(try await self.end(of: way, level, cut, after: moment))
                #expect(
                    try desk.leftovers.filter { !$0.contains("/staging/") } == [],
                    "level \(level), \(cut) after \(moment)")
            }
        }
        // Not all were done before.
        #expect(ends.contains { $0 != .exited(0) })
    }

    /// - Parameter cut: `nil` to let it come to its end.
    private func end(
        of way: Way, _ level: Int, _ cut: Cut?, after moment: Duration = .zero
    ) async throws -> ChildProgram.Ending {
        let inbox = "inbox-\(UUID().uuidString.prefix(8))"
        if (way, cut) == (.pipe, .receiverDies) {
            // A reader that dies after a number of bytes.
            let bytes = Int(moment / .milliseconds(1)) * 3000
            let line =
                "{ $SHIP send Large.sqlite --to - --level \(level) -q || echo status $? >&2; } | head -c \(bytes)"
            let outcome = try await desk.shell(line + " > /dev/null", timeout: .seconds(30))
            return .exited(outcome.stderr.contains("status 76") ? 76 : 0)
        }
        let receiver: Receiver? =
            switch way {
            case .socket: try await desk.listen(into: inbox)
            case .unix: try await desk.listen(on: "unix:\(inbox).sock", into: inbox)
            case .exec, .pipe, .file: nil
            }
        let target =
            switch way {
            case .socket, .unix: receiver?.address ?? ""
            case .exec: "exec:echo child $$ >&2; exec \(try BuiltProgram.path()) receive --into \(inbox) --from -"
            case .pipe: "-"
            case .file: "./\(inbox).shipment"
            }
        let sender = try desk.start("send", "Large.sqlite", "--to", target, "--level", "\(level)", "--quiet")
        let child = way == .exec ? try await sender.waitForLine(containing: "child ") : ""
        try await Task.sleep(for: moment)
        switch cut {
        case nil: break
        case .interrupted: sender.signal(SIGINT)
        case .terminated: sender.signal(SIGTERM)
        case .receiverDies:
            receiver?.program.signal(SIGKILL)
            if let child = child.split(separator: " ").last.flatMap({ Int32($0) }) { kill(child, SIGKILL) }
        }
        return try await sender.wait(timeout: .seconds(cut == nil ? 60 : 20)).status
    }
}
