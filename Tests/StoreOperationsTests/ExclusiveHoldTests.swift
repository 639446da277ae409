import Dispatch
import Foundation
import GRDB
import StoreFiles
import StoreOperations
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite struct ExclusiveHoldTests {
    private let scratch: ScratchFolder
    private let home: StoreHome

    init() throws {
        scratch = try ScratchFolder()
        home = StoreHome(scratch.path.appending("Recipes.sqlite"))
    }

    /// Opens the store, and commits a row once it is let in.
    private static func write(to path: FilePath, onWaiting: @escaping @Sendable () -> Void) -> Result<Void, any Error> {
        let patience = ContinuousClock.now + .seconds(30)
        var configuration = Configuration()
        configuration.busyMode = .callback { _ in
            onWaiting()
            Thread.sleep(forTimeInterval: 0.001)
            return ContinuousClock.now < patience
        }
        return Result {
            let queue = try DatabaseQueue(path: "file:\(path)?mode=rw", configuration: configuration)
            defer { try? queue.close() }
            try queue.write { try $0.execute(sql: "INSERT INTO recipe VALUES (9)") }
        }
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `a writer that waits for a store that goes is told so`(mode: String) async throws {
        try TestStore.make(
            at: home.path, sql: "PRAGMA journal_mode = \(mode); CREATE TABLE recipe(id); INSERT INTO recipe VALUES (1)")
        let path = home.path
        let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .seconds(10)))
        let (waiting, waits) = AsyncStream.makeStream(of: Void.self)
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Self.write(to: path) { waits.yield() }
            outcome.withLock { $0 = result }
            waits.finish()
            ended.signal()
        }
        // It has opened the file, and waits for its lock.
        for await _ in waiting { break }
        try hold.begin(StoreRemoval(of: home))
        try hold.connection.queue.close()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                ended.wait()
                continuation.resume()
            }
        }
        #expect(throws: DatabaseError.self) { try outcome.withLock { $0 }?.get() }
        try StoreRemoval(of: home).finish {}
        #expect(try Folder.names(in: scratch.path) == [])
    }

    @Test func `nobody gets in while a store is held`() throws {
        try TestStore.make(at: home.path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE recipe(id)")
        let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .zero))
        #expect(throws: DatabaseError.self) {
            _ = try TestStore.open(home.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") }
        }
        #expect(throws: OperationError.inUse(home.path, waited: .zero)) {
            _ = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .zero))
        }
        #expect(try hold.connection.run { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 0)
    }

    /// The app may make the store anew before the one who waits gets on.
    @Test(arguments: [false, true])
    func `who has waited for a store that went holds none`(isMadeAnew: Bool) async throws {
        let sql = "CREATE TABLE recipe(id)"
        try TestStore.make(at: home.path, sql: sql)
        let (opened, limit) = (try PlatformCalls.realPath(of: home.path).string, Duration.seconds(30))
        let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .seconds(10)))
        let waiting = Task(executorPreference: TestThreads.shared) { [home] () -> OperationError? in
            do throws(OperationError) {
                _ = try ExclusiveHold(on: home, BusyHandler(busyTimeout: limit))
                return nil
            } catch {
                return error
            }
        }
        // It has the file open.
        let patience = ContinuousClock.now + .seconds(10)
        while OpenDescriptors.targets.count(where: { $0 == opened }) < 2, .now < patience {
            try await Task.sleep(for: .milliseconds(2))
        }
        let removal = StoreRemoval(of: home)
        try hold.begin(removal)
        try removal.finish {}
        if isMadeAnew { try TestStore.make(at: home.path, sql: sql) }
        try hold.connection.queue.close()
        let expected: OperationError = isMadeAnew ? .inUse(home.path, waited: limit) : .noSuchStore(home.path)
        #expect(await waiting.value == expected)
    }

    /// Before anything has changed, or once it has left its mode.
    @Test(arguments: [true, false])
    func `a store whose removal cannot begin stays in its mode`(isEarly: Bool) throws {
        try TestStore.make(at: home.path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE recipe(id)")
        let folder = scratch.path.appending(".ship-store-removal-Recipes.sqlite")
        if isEarly { _ = try OpenFile.creating(folder) } else { try Folder.make(folder.appending("moved-to")) }
        do {
            let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .zero))
            #expect(throws: OperationError.self) {
                try hold.begin(StoreRemoval(of: home), after: StoreHome("/elsewhere/Recipes.sqlite"))
            }
        }
        let queue = try TestStore.open(home.path)
        #expect(try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        try queue.close()
    }

    /// With `-journal` it is as long as a name may be.
    @Test(arguments: ["WAL", "DELETE"])
    func `a store with the longest name goes too`(mode: String) throws {
        let home = StoreHome(scratch.path.appending(String(repeating: "n", count: 247)))
        try TestStore.make(at: home.path, sql: "PRAGMA journal_mode = \(mode); CREATE TABLE recipe(id)")
        let removal = StoreRemoval(of: home)
        let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .zero))
        try hold.begin(removal)
        #expect(try removal.store != nil)
        try hold.connection.queue.close()
        try removal.finish {}
        #expect(try Folder.names(in: scratch.path) == [])
    }

    @Test func `a store goes from a folder whose bits others inherit`() throws {
        let group = try scratch.folder("group")
        try PlatformCalls.changeMode(of: group, to: [.setGroupID, .ownerReadWriteExecute, .groupReadWriteExecute])
        let home = StoreHome(group.appending("Recipes.sqlite"))
        try TestStore.make(at: home.path, sql: "CREATE TABLE recipe(id)")
        let removal = StoreRemoval(of: home)
        try removal.begin()
        #expect(try removal.store != nil)
        try removal.finish {}
        #expect(try Folder.names(in: group) == [])
    }

    @Test func `only a store that a killed removal moved out of sight counts as one that is to go`() throws {
        let removal = StoreRemoval(of: home)
        try Folder.make(home.supportFolder.path.appending("_EXTERNAL_DATA"))
        #expect(try removal.store == nil)
        try TestStore.make(at: home.path, sql: "CREATE TABLE t(a)")
        try removal.begin(after: StoreHome("/elsewhere/Recipes.sqlite"))
        let aside = try #require(try removal.store)
        #expect(try StoreContent(of: aside).tables.keys.sorted() == ["sqlite_schema", "t"])
        #expect(try removal.followedMove(to: StoreHome("/elsewhere/Recipes.sqlite")))
        #expect(try !removal.followedMove(to: StoreHome("/somewhere/Recipes.sqlite")))
        try removal.finish {}
        #expect(try Folder.names(in: scratch.path) == [home.supportFolder.path.lastComponent?.string])
    }
}
