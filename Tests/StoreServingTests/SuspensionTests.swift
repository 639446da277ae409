import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import StoreServing
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// An app is suspended and goes on, with readers, pins and listeners.
@Suite struct SuspensionTests {
    private let inbox: SampleInbox
    private let coordinator: StoreCoordinator

    init() throws {
        inbox = try SampleInbox(keeping: 1)
        coordinator = StoreCoordinator(inbox: inbox.root)
    }

    private func rows(_ pin: Pin) throws -> Int? {
        try pin.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    private func rows() throws -> Int? {
        try coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    private var marks: [String] {
        ((try? Folder.names(in: inbox.folder())) ?? []).filter { $0.hasPrefix("suspended.") }
    }

    // MARK: Reads

    @Test func `whoever asks while it is suspended is told so`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        #expect(await coordinator.suspend() == .complete)
        #expect(throws: CoordinatorError.suspended) { try rows() }
        await #expect(throws: CoordinatorError.suspended) { try await coordinator.read { _ in } }
        #expect(throws: CoordinatorError.suspended) { try rows(pin) }
        await #expect(throws: CoordinatorError.suspended) { try await pin.read { _ in } }
        #expect(throws: CoordinatorError.suspended) { try pin.externalFile(SampleWords.file(1)) }
        #expect(throws: CoordinatorError.suspended) { try coordinator.pin() }
        #expect(throws: CoordinatorError.suspended) { try coordinator.stores }
        #expect(throws: CoordinatorError.suspended) { try coordinator.changes() }
        #expect(throws: CoordinatorError.suspended) { try coordinator.noteRewritten() }
        try await inbox.install(rows: 2)
        #expect(try coordinator.resume().kept.first === pin)
        #expect(try rows() == 2)
        #expect(try rows(pin) == 1)
    }

    @Test(arguments: [true, false]) func `a read that is under way is interrupted, and told why`(isPinned: Bool)
        async throws
    {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let body: @Sendable (Database) throws -> Int? = { database in
            hasBegun.finish()
            return try Int.fetchOne(database, sql: Self.endless)
        }
        let read = Task { [coordinator] in try await isPinned ? pin.read(body) : coordinator.read(.only, body) }
        for await _ in began {}
        #expect(await coordinator.suspend(waiting: .seconds(20)) == .complete)
        await #expect(throws: CoordinatorError.suspended) { _ = try await read.value }
        try coordinator.resume()
        #expect(try rows() == 1)
        #expect(try rows(pin) == 1)
    }

    @Test func `a read of many short statements is interrupted as well`() async throws {
        try await inbox.install(rows: 1)
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let read = Task { [coordinator] in
            try await coordinator.read { database in
                while true {
                    _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM t, t AS u WHERE t.a = u.a")
                    hasBegun.finish()
                }
            }
        }
        for await _ in began {}
        #expect(await coordinator.suspend(waiting: .seconds(20)) == .complete)
        await #expect(throws: CoordinatorError.suspended) { _ = try await read.value }
    }

    @Test func `a read that waits for a writer ends with its task, and with a suspension`() async throws {
        let scratch = try ScratchFolder()
        let path = scratch.path.appending("Live.sqlite")
        try TestStore.make(at: path, sql: "CREATE TABLE t(a)")
        let coordinator = try StoreCoordinator(files: [.live(path)])
        let count: @Sendable (Database) throws -> Int? = { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(try await coordinator.read(.only, count) == 0)
        let writer = try TestStore.open(path)
        try await writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let cancelled = Task { try await coordinator.read(.only, count) }
        try await Task.sleep(for: .milliseconds(300))
        let begin = ContinuousClock.now
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        #expect(ContinuousClock.now - begin < .seconds(5))
        let read = Task { try await coordinator.read(.only, count) }
        try await Task.sleep(for: .milliseconds(300))
        #expect(await coordinator.suspend(waiting: .seconds(5)) == .complete)
        await #expect(throws: CoordinatorError.suspended) { _ = try await read.value }
        try await writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try writer.close()
        try coordinator.resume()
        #expect(try await coordinator.read(.only, count) == 0)
    }

    @Test func `a read that is at something else is not waited for beyond the time`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        let read = Task {
            try await pin.read { database in
                hasBegun.finish()
                guard goOn.wait(timeout: .now() + 20) == .success else { throw SampleWords.Bad() }
                _ = try Int.fetchOne(database, sql: Self.endless)
            }
        }
        for await _ in began {}
        #expect(await coordinator.suspend(waiting: .milliseconds(30)) == .readsUnderWay(1))
        // The lock is given back all the same.
        #expect(pin.generation.isHeld == false)
        goOn.signal()
        // Nobody interrupts any more: another suspension does.
        #expect(await coordinator.suspend(waiting: .seconds(20)) == .complete)
        await #expect(throws: CoordinatorError.suspended) { _ = try await read.value }
    }

    @Test func `a read that suspends its own coordinator is told of itself`() async throws {
        try await inbox.install(rows: 1)
        let outcome = try blocking { coordinator in
            try coordinator.read { database in
                let outcome = coordinator.suspend(waiting: .milliseconds(20))
                try coordinator.resume()
                return (outcome, try Int.fetchOne(database, sql: "SELECT count(*) FROM t"))
            }
        }
        #expect(outcome == (.readsUnderWay(1), 1))
    }

    /// What is for threads that may wait.
    private func blocking<Value>(_ body: (StoreCoordinator) throws -> Value) throws -> Value { try body(coordinator) }

    @Test func `who is resumed while waiting for reads is told so`() async throws {
        try await inbox.install(rows: 1)
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        let read = Task { [coordinator] in
            try await coordinator.read { _ in
                hasBegun.finish()
                guard goOn.wait(timeout: .now() + 20) == .success else { throw SampleWords.Bad() }
            }
        }
        for await _ in began {}
        async let suspension = coordinator.suspend(waiting: .seconds(20))
        while (try? coordinator.stores) != nil { try await Task.sleep(for: .milliseconds(1)) }
        try coordinator.resume()
        #expect(await suspension == .resumed)
        goOn.signal()
        try await read.value
        #expect(try rows() == 1)
    }

    // MARK: Pins

    @Test func `what was pinned stays for a while, and is pinned again`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        #expect(await coordinator.suspend() == .complete)
        #expect(marks.count == 1)
        for rows in 2...3 { try await inbox.install(rows: rows) }
        #expect(inbox.numbers() == [1, 3])
        let resumption = try coordinator.resume()
        #expect(resumption.kept.map(\.generation.number) == [1])
        #expect(resumption.gone.isEmpty && resumption.failed.isEmpty)
        #expect(try rows(pin) == 1)
        // From here on the lock keeps it, and nothing else.
        #expect(marks == [])
        try await inbox.install(rows: 4)
        #expect(inbox.numbers() == [1, 4])
        pin.release()
        try await inbox.install(rows: 5)
        #expect(inbox.numbers() == [5])
    }

    @Test func `what was removed meanwhile is said to be gone`() async throws {
        try await inbox.install(rows: 1)
        let (pin, other) = (try coordinator.pin(), try coordinator.pin())
        #expect(await coordinator.suspend() == .complete)
        try await inbox.install(rows: 2)
        let name = try #require(StoreName("Recipes"))
        try StoreLock(of: name, in: Inbox(at: inbox.root))
            .prune(Retention(count: 1, grace: .zero, suspensionGrace: .zero))
        #expect(inbox.numbers() == [2])
        other.release()
        for _ in 0..<2 {
            let resumption = try coordinator.resume()
            #expect(resumption.gone.count == 1 && resumption.gone.first === pin)
            #expect(resumption.kept.isEmpty && resumption.failed.isEmpty)
            #expect(throws: CoordinatorError.generationGone(name, number: 1)) { try rows(pin) }
            #expect(throws: CoordinatorError.generationGone(name, number: 1)) {
                try pin.externalFile(SampleWords.file(1))
            }
        }
        #expect(marks == [])
        pin.release()
        #expect(throws: CoordinatorError.released) { try rows(pin) }
        #expect(try coordinator.resume().gone.isEmpty)
        #expect(try rows(coordinator.pin()) == 2)
    }

    @Test func `another generation of the same name is not the one that was pinned`() async throws {
        let scratch = try ScratchFolder()
        let root = scratch.path.appending("inbox")
        let coordinator = StoreCoordinator(inbox: root)
        var words = SampleWords()
        let first = try await SampleInbox(in: scratch).install(rows: 1, words)
        let pin = try coordinator.pin()
        #expect(await coordinator.suspend() == .complete)
        try Folder.removeTree(at: root)
        words.metadata = ["why": "made anew"]
        let second = try await SampleInbox(in: scratch).install(rows: 1, words)
        #expect(first.path == second.path)
        #expect(try coordinator.resume().gone.first === pin)
    }

    @Test func `one that cannot be held now is tried again`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        #expect(await coordinator.suspend() == .complete)
        let store = pin.generation.storePath
        let aside = FilePath(store.string + ".aside")
        try PlatformCalls.rename(store, to: aside)
        let failed = try coordinator.resume().failed
        #expect(failed.count == 1 && failed.first?.pin === pin)
        #expect(throws: (any Error).self) { try rows(pin) }
        #expect(marks.count == 1)
        try PlatformCalls.rename(aside, to: store)
        #expect(try coordinator.resume().kept.first === pin)
        #expect(try rows(pin) == 1)
        #expect(marks == [])
    }

    @Test func `a pin that goes while it is suspended waits for nothing`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        do {
            let dropped = try coordinator.pin()
            #expect(await coordinator.suspend() == .complete)
            #expect(marks.count == 2)
            withExtendedLifetime(dropped) {}
        }
        #expect(marks.count == 1)
        pin.release()
        #expect(marks == [])
        try await inbox.install(rows: 2)
        #expect(inbox.numbers() == [2])
        let resumption = try coordinator.resume()
        #expect(resumption.kept.isEmpty && resumption.gone.isEmpty && resumption.failed.isEmpty)
    }

    @Test func `to do either twice changes nothing`() async throws {
        try await inbox.install(rows: 1)
        let pin = try coordinator.pin()
        #expect(try coordinator.resume().kept.first === pin)
        for _ in 0..<2 { #expect(await coordinator.suspend() == .complete) }
        #expect(marks.count == 1)
        for _ in 0..<2 { #expect(try coordinator.resume().kept.first === pin) }
        #expect(try rows(pin) == 1)
        #expect(try rows() == 1)
    }

    // MARK: Changes

    @Test(arguments: [Watching.automatic, .polling(every: .milliseconds(20))])
    func `changes go on, and tell what changed meanwhile`(watching: Watching) async throws {
        var options = StoreCoordinator.Options()
        options.watching = watching
        let coordinator = StoreCoordinator(inbox: inbox.root, options: options)
        try await inbox.install(rows: 1)
        let told = Told(waitingFor: try coordinator.changes(rows: true))
        try await inbox.install(rows: 2)
        #expect(try await told.generation().to.number == 2)
        let pin = try coordinator.pin()
        #expect(await coordinator.suspend() == .complete)
        for rows in 3...4 { try await inbox.install(rows: rows) }
        try await Task.sleep(for: .milliseconds(100))
        try coordinator.resume()
        let change = try await told.generation()
        #expect(change.from?.number == 2 && change.to.number == 4)
        #expect(change.difference.tables?.map(\.name) == ["t"])
        guard case .rows(let changed)? = change.difference.tables?.first?.rows else {
            Issue.record("no rows")
            return
        }
        #expect(changed.inserted.map(\.key) == [[3.databaseValue], [4.databaseValue]])
        try await inbox.install(rows: 5)
        #expect(try await told.generation().to.number == 5)
        withExtendedLifetime(pin) {}
    }

    @Test func `who begins to listen after it was suspended hears as well`() async throws {
        try await inbox.install(rows: 1)
        #expect(await coordinator.suspend() == .complete)
        try coordinator.resume()
        let told = Told(waitingFor: try coordinator.changes())
        try await inbox.install(rows: 2)
        #expect(try await told.generation().to.number == 2)
    }

    // MARK: All at once

    private static func readBlocking(_ coordinator: StoreCoordinator) throws {
        _ = try coordinator.read { try Int.fetchOne($0, sql: "SELECT sum(a) FROM t") }
    }

    @Test func `reads, pins, suspensions and resumptions at once end as they should`() async throws {
        try await inbox.install(rows: 50)
        let (coordinator, inbox) = (coordinator, inbox)
        let end = ContinuousClock.now + .seconds(3)
        let reads = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<6 {
                group.addTask {
                    while .now < end {
                        do {
                            switch reader % 3 {
                            case 0:
                                _ = try await coordinator.read { try Int.fetchOne($0, sql: "SELECT sum(a) FROM t") }
                            case 1: try SuspensionTests.readBlocking(coordinator)
                            default:
                                let pin = try coordinator.pin()
                                for _ in 0..<3 {
                                    _ = try await pin.read { try Int.fetchOne($0, sql: "SELECT sum(a) FROM t") }
                                }
                            }
                            reads.number.add(1, ordering: .relaxed)
                            await Task.yield()
                        } catch CoordinatorError.suspended {
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    while .now < end {
                        let suspension = await coordinator.suspend(waiting: .seconds(20))
                        #expect(suspension == .complete || suspension == .resumed)
                        try coordinator.resume()
                        try await Task.sleep(for: .milliseconds(2))
                    }
                }
            }
            group.addTask {
                var rows = 50
                while .now < end {
                    rows += 1
                    try await inbox.install(rows: rows)
                    try await Task.sleep(for: .milliseconds(30))
                }
            }
            try await group.waitForAll()
        }
        #expect(reads.number.load(ordering: .relaxed) > 0)
        let left = try coordinator.resume()
        #expect(left.kept.isEmpty && left.gone.isEmpty && left.failed.isEmpty)
        let rows = try #require(try rows())
        #expect(rows > 50)
        #expect(marks == [])
    }
}

private final class Count: Sendable {
    let number = Atomic(0)
}
