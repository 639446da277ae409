import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A program that may not have as much memory, or as many threads, as it takes: Dispatch would wait for one without end.
@Suite struct FewThreadsTests {
    private let scratch: ScratchFolder
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.path.appending("Notes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    }

    private func copy(limitedBy limit: String) async throws -> ChildProgram.Outcome {
        try await ChildProgram(
            "/bin/sh",
            [
                "-c", "\(limit) \"$0\" \"$@\"", "\(try BuiltProgram.path())", "copy", store.string, "--to",
                scratch.path.appending("copies").string,
            ]
        ).wait()
    }

    private func expectRefusal(_ outcome: ChildProgram.Outcome) {
        #expect(outcome.status == .exited(75), Comment(rawValue: outcome.stderr))
        #expect(outcome.stderr.contains("cannot run with so little room"), Comment(rawValue: outcome.stderr))
        #expect((try? PlatformCalls.status(of: scratch.path.appending("copies"))) == nil)
    }

    /// KiB, in which the program itself has room, and its threads have not.
    @Test(arguments: [
        "ulimit -v 260000; exec", "ulimit -v 300000; exec", "ulimit -d 80000; exec", "ulimit -d 120000; exec",
    ])
    func `a limit of memory that leaves too few threads is refused before anything begins`(limit: String) async throws {
        expectRefusal(try await copy(limitedBy: limit))
    }

    @Test func `memory that is limited to twice what it takes is enough, however many heaps there would be`()
        async throws
    {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let outcome = try await copy(limitedBy: "ulimit -v \(600_000 + 16_000 * processors); exec")
        #expect(outcome.status == .exited(0), Comment(rawValue: outcome.stderr))
    }

    /// Root may have as many as it likes.
    @Test(
        .enabled("may not become another user, or has no setpriv") {
            try await ChildProgram(
                "/bin/sh",
                ["-c", "setpriv --reuid 64321 --clear-groups prlimit \"$0\" --version", "\(try BuiltProgram.path())"]
            ).wait().status == .exited(0)
        })
    func `a limit of processes is refused the same way`() async throws {
        expectRefusal(try await copy(limitedBy: "exec setpriv --reuid 64321 --clear-groups prlimit --nproc=4"))
    }

    /// Of a group below it, too.
    @Test(
        .enabled("may not make a control group with a limit of processes") {
            group(of: 4).map { rmdir($0) } == 0
        },
        arguments: [4, 12])
    func `a limit of a control group is refused the same way`(tasks: Int) async throws {
        let group = try #require(Self.group(of: tasks))
        defer { rmdir(group) }
        let below = group + "/below"
        mkdir(below, 0o755)
        defer { rmdir(below) }
        expectRefusal(try await copy(limitedBy: "echo $$ > \(below)/cgroup.procs && exec"))
    }

    /// A control group that may have so many tasks [cgroups(7)].
    private static func group(of tasks: Int) -> String? {
        let groups = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map { "\($0)/ship-store-\(UUID())" }
        return groups.first { group in
            guard mkdir(group, 0o755) == 0 else { return false }
            let limit = try? FileDescriptor.open("\(group)/pids.max", .writeOnly)
            defer { try? limit?.close() }
            if let limit, (try? limit.writeAll("\(tasks)\n".utf8)) != nil { return true }
            rmdir(group)
            return false
        }
    }
}
