import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// The room ends, on either side.
@Suite struct FullDiskTests {
    private let scratch: ScratchFolder
    private let store: FilePath
    private let shipment: FilePath

    /// A store of three megabytes that do not deflate.
    init() async throws {
        scratch = try ScratchFolder()
        store = try scratch.folder("phone").appending("Photos.sqlite")
        shipment = scratch.path.appending("photos.shipment")
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE t(a BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO t SELECT randomblob(1000) FROM n;
                """)
        try await BuiltProgram.expectSuccess(["send", store.string, "--to", shipment.string])
    }

    private func expectNoRoom(_ outcome: ChildProgram.Outcome, hint: String = "free some space") {
        #expect(outcome.status == .exited(73), Comment(rawValue: outcome.stderr))
        #expect(outcome.stderr.contains("ship-store: error: "))
        #expect(outcome.stderr.contains("ship-store: hint: \(hint)"), Comment(rawValue: outcome.stderr))
    }

    /// All files below a folder, but for the inbox's own: a note of the failure is no shipment.
    private func files(below folder: FilePath) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.string).filter { name in
            let kind = try? PlatformCalls.status(of: folder.pushing(FilePath(name))).kind
            return kind != .folder && ![".lock", ".format", ".failed"].contains(where: name.hasSuffix)
        }
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `a disk that is too small for the inbox is said before anything comes`() async throws {
        try await SmallDisk.with(size: "2m") { disk in
            let inbox = disk.appending("inbox")
            let outcome = try await BuiltProgram.run(["receive", "--into", inbox.string, "--from", shipment.string])
            expectNoRoom(outcome)
            #expect(try files(below: disk) == [])
        }
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `the sender hears why the receiver has no room`() async throws {
        try await SmallDisk.with(size: "2m") { disk in
            let receiver = "'\(try BuiltProgram.path())' receive --into '\(disk)/inbox' --from - --quiet 2>/dev/null"
            let outcome = try await BuiltProgram.run(["send", store.string, "--to", "exec:\(receiver)"])
            #expect(outcome.status == .exited(73), Comment(rawValue: outcome.stderr))
            #expect(outcome.stderr.contains("the receiver refused the shipment: the disk of the inbox has"))
            #expect(try files(below: disk) == [])
        }
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `a disk that is too small for the copy, or for the shipment`() async throws {
        try await SmallDisk.with(size: "2m") { disk in
            let copy = try await BuiltProgram.run(
                ["send", store.string, "--to", scratch.path.appending("other.shipment").string],
                environment: ["TMPDIR": disk.string])
            expectNoRoom(copy)
            #expect((try? PlatformCalls.status(of: scratch.path.appending("other.shipment"))) == nil)
            let kept = try await BuiltProgram.run(
                ["send", store.string, "--to", disk.appending("other.shipment").string])
            expectNoRoom(kept)
            let local = try await BuiltProgram.run(["copy", store.string, "--to", disk.appending("copies").string])
            expectNoRoom(local)
            #expect(try files(below: disk) == [])
        }
    }

    /// As prlimit(1) sets it: the program must not die by SIGXFSZ.
    private func limited(_ size: Int, _ arguments: [String]) async throws -> ChildProgram.Outcome {
        let temporary = try scratch.folder("temporary \(UUID())")
        let outcome = try await ChildProgram(
            "/bin/sh",
            ["-c", "ulimit -f \(size / 512) && exec \"$0\" \"$@\"", "\(try BuiltProgram.path())"] + arguments,
            environment: ["TMPDIR": temporary.string]
        ).wait()
        #expect(try Folder.names(in: temporary) == [])
        return outcome
    }

    /// The limit is in blocks of 512 bytes.
    private func expectLimit(_ outcome: ChildProgram.Outcome) {
        expectNoRoom(outcome, hint: "raise the limit (`ulimit -f`)")
        #expect(outcome.stderr.contains("would have more than the 999936 bytes"), Comment(rawValue: outcome.stderr))
        #expect(!outcome.stderr.contains("/proc/self"), Comment(rawValue: outcome.stderr))
    }

    @Test func `files that may not grow as large as the store`() async throws {
        let inbox = scratch.path.appending("inbox")
        expectLimit(try await limited(1_000_000, ["receive", "--into", inbox.string, "--from", shipment.string]))
        #expect(try files(below: inbox) == [])
        let other = try scratch.folder("other")
        expectLimit(
            try await limited(1_000_000, ["send", store.string, "--to", other.appending("a.shipment").string]))
        expectLimit(try await limited(1_000_000, ["copy", store.string, "--to", other.string]))
        #expect(try files(below: other) == [])
        try await BuiltProgram.expectSuccess(["receive", "--into", inbox.string, "--from", shipment.string])
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"))
    func `the signal of such a limit is ignored in every thread`() async throws {
        let receiver = try BuiltProgram.start(
            ["receive", "--into", scratch.path.appending("inbox").string, "--listen", "127.0.0.1:0"])
        _ = try await receiver.waitForLine(containing: "listening on")
        let status = try String(contentsOfFile: "/proc/\(receiver.processID)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") })
        let ignored = try #require(UInt64(line.split(separator: "\t")[1], radix: 16))
        #expect(ignored & 1 << (UInt64(SIGXFSZ) - 1) != 0)
    }
}
