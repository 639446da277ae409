package import SystemPackage

/// A file system in memory with little room.
package enum SmallDisk {
    /// Whether this process may mount one.
    package static func isAvailable() async -> Bool {
        (try? await with(size: "64k") { _ in }) != nil
    }

    /// Mounts it, and takes it away after `body`.
    ///
    /// - Parameter size: As mount(8) takes it: `1m`.
    package static func with<Result>(
        size: String, _ body: (FilePath) async throws -> Result
    ) async throws -> Result {
        let scratch = try ScratchFolder()
        let path = try scratch.folder("disk")
        try await run("mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path.string)
        do {
            let result = try await body(path)
            try await run("umount", path.string)
            return result
        } catch {
            try? await run("umount", "-l", path.string)
            throw error
        }
    }

    private static func run(_ command: String...) async throws {
        let outcome = try await ChildProgram("/usr/bin/env", command).wait()
        guard outcome.status == .exited(0) else { throw NotMounted(words: outcome.stderr) }
    }

    package struct NotMounted: Error { package let words: String }
}
