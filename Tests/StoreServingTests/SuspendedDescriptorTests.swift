import Foundation
import GRDB
import StoreFiles
import StoreInbox
import StoreInstall
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// What a suspended process has open and locked: that for which a system would end it.
@Suite struct SuspendedDescriptorTests {
    /// What this process has locked, whichever call it was: lines of `/proc/locks` [proc_locks(5)].
    private static func locks() throws -> [Substring] {
        try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").filter { line in
            line.split(separator: " ").contains("\(PlatformCalls.processID)")
        }
    }

    private static func open(in folder: FilePath) -> [String] {
        OpenDescriptors.targets.filter { $0.hasPrefix(folder.string) }
    }

    @Test(.enabled("shows no locks") { FileManager.default.fileExists(atPath: "/proc/locks") })
    func `nothing of an inbox is open or locked`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let root = try PlatformCalls.realPath(of: scratch.path).appending("inbox")
            do {
                let inbox = try SampleInbox(in: scratch)
                for rows in 1...2 { try await inbox.install(rows: rows) }
            }
            let coordinator = StoreCoordinator(inbox: root)
            let pin = try coordinator.pin()
            let told = Told(waitingFor: try coordinator.changes())
            for _ in 0..<8 {
                _ = try await coordinator.read { outer in
                    _ = try coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                    return try Int.fetchOne(outer, sql: "SELECT count(*) FROM t")
                }
            }
            #expect(!SuspendedDescriptorTests.open(in: root).isEmpty)
            #expect(try !SuspendedDescriptorTests.locks().isEmpty)
            let threads = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = try? coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t, t, t") }
                threads.signal()
            }
            #expect(await coordinator.suspend() == .complete)
            #expect(SuspendedDescriptorTests.open(in: root) == [])
            #expect(try SuspendedDescriptorTests.locks() == [])
            #expect(!OpenDescriptors.targets.contains { $0.contains("inotify") })
            try coordinator.resume()
            #expect(try !SuspendedDescriptorTests.locks().isEmpty)
            withExtendedLifetime((pin, told, threads)) {}
        }
    }

    @Test(.enabled("shows no locks") { FileManager.default.fileExists(atPath: "/proc/locks") })
    func `nothing of a live store is open or locked`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let folder = try PlatformCalls.realPath(of: scratch.path)
            let path = folder.appending("Journal.sqlite")
            try TestStore.make(at: path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            let coordinator = try StoreCoordinator(files: [.live(path)])
            #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
            #expect(!SuspendedDescriptorTests.open(in: folder).isEmpty)
            #expect(try !SuspendedDescriptorTests.locks().isEmpty)
            #expect(await coordinator.suspend() == .complete)
            #expect(SuspendedDescriptorTests.open(in: folder) == [])
            #expect(try SuspendedDescriptorTests.locks() == [])
            try coordinator.resume()
            #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        }
    }

    @Test func `another process prunes what a killed one had let go of, once the grace is over`() async throws {
        let inbox = try SampleInbox(keeping: 1)
        try await inbox.install(rows: 1)
        await #expect(processExitsWith: .signal(SIGKILL)) { [root = inbox.root.string as String] in
            let coordinator = StoreCoordinator(inbox: FilePath(root))
            let pin = try coordinator.pin()
            #expect(await coordinator.suspend() == .complete)
            withExtendedLifetime(pin) { _ = kill(getpid(), SIGKILL) }
        }
        try await inbox.install(rows: 2)
        #expect(inbox.numbers() == [1, 2])
        let storeLock = try StoreLock(of: inbox.installer.folder.storeNames()[0], in: Inbox(at: inbox.root))
        try storeLock.prune(Retention(count: 1, grace: .zero, suspensionGrace: .nanoseconds(1)))
        #expect(inbox.numbers() == [2])
    }
}
