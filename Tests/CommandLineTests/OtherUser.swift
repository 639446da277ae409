import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Runs the program as another user, with folders of its own: as nobody, by the number 65534. Only root can; anybody else stays who he is.
struct OtherUser {
    /// Theirs.
    let folder: FilePath

    private static let isRoot = PlatformCalls.effectiveUser == 0

    /// Somebody who may pass through the desk, and write to one folder in it.
    init(at desk: Desk) async throws {
        folder = desk["theirs"]
        try await desk.shell(
            """
            chmod 0711 . ..
            mkdir theirs theirs/tmp theirs/config
            \(Self.isRoot ? "chown -R 65534 theirs" : "")
            """
        ).expectSuccess()
    }

    func run(_ arguments: [String]) async throws -> ChildProgram.Outcome {
        try await Self.command([try BuiltProgram.path().string] + arguments, in: folder)
    }

    /// Lines of a shell, in which `$SHIP` is the program.
    func shell(_ lines: String) async throws -> ChildProgram.Outcome {
        try await Self.command(["/bin/sh", "-euc", "SHIP='\(try BuiltProgram.path())'; \(lines)"], in: folder)
    }

    /// Whether there is another user, who can run the program.
    static func isAvailable() async -> Bool {
        guard isRoot, let program = try? BuiltProgram.path() else { return false }
        return (try? await command([program.string, "--version"], in: "/"))?.status == .exited(0)
    }

    private static func command(_ words: [String], in folder: FilePath) async throws -> ChildProgram.Outcome {
        let all =
            isRoot ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + words : words
        return try await ChildProgram(
            FilePath(all[0]), Array(all.dropFirst()),
            environment: [
                "TMPDIR": folder.appending("tmp").string, "XDG_CONFIG_HOME": folder.appending("config").string,
            ], in: folder
        ).wait()
    }
}
