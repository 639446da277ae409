import Foundation
package import SystemPackage

/// A file system in a file.
package final class LoopDisk: Sendable {
    /// Where it is mounted.
    package let path: FilePath
    private let image: FilePath

    package enum Kind: Sendable {
        /// The journal is written every 100 seconds: nothing gets to the medium by itself while a test runs.
        case ext4
        /// It clones files.
        case btrfs

        fileprivate var size: String { self == .ext4 ? "16M" : "128M" }
        fileprivate var options: String { self == .ext4 ? "loop,commit=100" : "loop" }
    }

    private let kind: Kind

    package static func isAvailable(_ kind: Kind = .ext4) async -> Bool {
        do {
            let scratch = try ScratchFolder()
            let disk = try await LoopDisk(in: scratch.path, kind)
            if kind == .ext4 { try await disk.cutPower() }
            try await disk.remove()
            return true
        } catch {
            return false
        }
    }

    package init(in folder: FilePath, _ kind: Kind = .ext4) async throws {
        self.kind = kind
        image = folder.appending("image")
        path = folder.appending("disk")
        try await Self.run("mkdir", path.string)
        try await Self.run("truncate", "-s", kind.size, image.string)
        try await Self.run("mkfs.\(kind)", "-q", image.string)
        try await mount()
    }

    deinit {
        // Only where a test was left early: lazily, as something may still be open.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sh", "-c", "mountpoint -q '\(path)' && umount -l '\(path)'"]
        try? process.run()
        process.waitUntilExit()
    }

    private func mount() async throws {
        try await Self.run("mount", "-o", kind.options, image.string, path.string)
    }

    /// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`: the file system stops as it is on the medium, and what was not synced by
    /// then is lost. Then it is mounted again, as after a start.
    package func cutPower() async throws {
        let program = """
            import fcntl, os, struct, sys
            fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))
            """
        try await Self.run("python3", "-c", program, path.string)
        try await Self.run("umount", path.string)
        try await mount()
    }

    /// Takes it away.
    package func remove() async throws {
        try await Self.run("umount", path.string)
    }

    private static func run(_ command: String...) async throws {
        let outcome = try await ChildProgram("/usr/bin/env", command).wait()
        guard outcome.status == .exited(0) else { throw Failed(words: "\(command): \(outcome.stderr)") }
    }

    package struct Failed: Error { package let words: String }
}
