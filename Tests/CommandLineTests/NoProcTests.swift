import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A machine without /proc, as in a chroot or a sandbox: what a command cannot do it says, and it never ends with 0 then.
@Suite(.enabled(if: WithoutProc.isAvailable)) struct NoProcTests {
    @Test(arguments: [
        "copy Recipes.sqlite --to out", "send Recipes.sqlite --to ./s.shipment", "send Recipes.sqlite --to - --json",
        "receive --into in", "list --into in", "verify Recipes.sqlite", "inspect Recipes.sqlite",
        "metadata Recipes.sqlite --set a=b", "move Recipes.sqlite --to moved --remove-old", "destroy Recipes.sqlite",
        "identity", "demo", "--nonsense", "",
    ])
    func `a command says so, and begins nothing`(words: String) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let before = try Folder.names(in: desk.path)
        let outcome = try await desk.shell(WithoutProc.script("$SHIP \(words)"))
        outcome.expectFailure(
            74, "this program cannot run without /proc", hint: "mount it, as with `mount -t proc proc /proc`")
        #expect(try Folder.names(in: desk.path) == before)
    }

    @Test func `its arguments are read all the same`() async throws {
        let outcome = try await Desk().shell(WithoutProc.script("$SHIP --version")).expectSuccess()
        #expect(outcome.lines.count == 1)
    }
}

/// Hides /proc from a command, in a mount namespace of its own.
private enum WithoutProc {
    static func script(_ command: String) -> String {
        "exec unshare --mount --map-root-user sh -euc 'mount -t tmpfs none /proc; exec \"$@\"' sh sh -euc '\(command)'"
    }

    static let isAvailable: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script("[ ! -e /proc/self ]")]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
