import Foundation
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

/// A reader in another process holds a generation, by flock(2) on its folder, and dies.
@Suite struct HeldGenerationTests {
    /// The lock is another program's, in another language: nothing of ours is in it.
    private static let reader = """
        import fcntl, os, sys
        fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_SH)
        print("held", flush=True)
        sys.stdin.read()
        """

    @Test func `what another process holds is pruned once that process is dead`() async throws {
        let sample = try await ShipmentSample(in: .inMemory())
        let inbox = sample.template
        let receive = ["receive", "--into", inbox.string, "--keep", "1", "--from", sample.shipments[1].string]
        let first = try PlatformCalls.realPath(of: inbox.appending(".ship-store/Recipes/current"))
        let reader = try ChildProgram("/usr/bin/env", ["python3", "-c", Self.reader, first.string], input: .pipe)
        _ = try await reader.waitForLine(containing: "held", on: .output)

        #expect(try await BuiltProgram.run(receive).status == .exited(0))
        #expect(ShipmentSample.current(of: inbox) == 2)
        let prune = ["prune", "--into", inbox.string, "--keep", "1"]
        #expect(try await BuiltProgram.run(prune).lines == ["held     Recipes  1"])
        let list = try await BuiltProgram.run(["list", "--into", inbox.string])
        #expect(list.lines.map { $0.contains("held") } == [false, false, true, false, false])
        #expect(try Generation(at: first).number == 1)

        reader.signal(SIGKILL)
        #expect(try await reader.wait().status == .signalled(SIGKILL))
        #expect(try await BuiltProgram.run(prune).lines == ["removed  Recipes  1"])
        try ShipmentSample.expectTidy(inbox, generations: 2...2, "after the reader's death")
    }
}
