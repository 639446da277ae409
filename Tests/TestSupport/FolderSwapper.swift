import Foundation
package import SystemPackage

/// Another process that swaps names for each other as fast as it can, renameat2(2) with `RENAME_EXCHANGE`: a folder and a
/// symbolic link beside it that leads elsewhere.
package final class FolderSwapper {
    private let program: ChildProgram

    /// - Parameters:
    ///   - pairs: The names; those that are not there are passed over, and tried again.
    ///   - user: Whom it becomes, if this process may make it so.
    package init(_ pairs: [(FilePath, FilePath)], as user: UInt32? = nil) throws {
        let script = """
            import ctypes, os, signal, sys, time
            if sys.argv[1]: os.setgroups([]); os.setresgid(*3 * [int(sys.argv[1])]); os.setresuid(*3 * [int(sys.argv[1])])
            over = []
            signal.signal(signal.SIGTERM, lambda *_: over.append(1))
            renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
            names = [os.fsencode(name) for name in sys.argv[2:]]
            pairs = list(zip(names[::2], names[1::2]))
            print("swapping", flush=True)
            swaps = 0
            while not over:
                # There and back, so that now and then all is in its place for a moment.
                for _ in range(50):
                    for a, b in pairs:
                        for _ in range(2): swaps += renameat2(-100, a, -100, b, 2) == 0
                time.sleep(0.001)
            print("swapped", swaps, flush=True)
            """
        let names = pairs.flatMap { [$0.0.string, $0.1.string] }
        program = try ChildProgram("/usr/bin/env", ["python3", "-c", script, user.map { "\($0)" } ?? ""] + names)
    }

    package func waitUntilItSwaps() async throws {
        _ = try await program.waitForLine(containing: "swapping", on: .output)
    }

    /// - Returns: How many swaps there have been.
    package func stop() async throws -> Int {
        program.signal(SIGTERM)
        let outcome = try await program.wait(timeout: .seconds(20))
        return outcome.lines.last.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    }
}
