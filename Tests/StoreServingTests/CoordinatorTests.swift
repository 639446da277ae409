import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct CoordinatorTests {
    private let inbox: SampleInbox
    private let coordinator: StoreCoordinator

    init() throws {
        inbox = try SampleInbox()
        coordinator = StoreCoordinator(inbox: inbox.root)
    }

    private func rows(_ selection: StoreSelection = .only) throws -> Int? {
        try coordinator.read(selection) { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test func `a store is found once it is installed, by its name, its index, and alone`() async throws {
        #expect(try coordinator.stores == [])
        #expect(throws: CoordinatorError.noSuchStore("Recipes")) { try rows("Recipes") }
        #expect(throws: CoordinatorError.notOneStore(count: 0)) { try rows() }
        try await inbox.install(rows: 3)
        #expect(try rows() == 3)
        try await inbox.install("Albums", rows: 5)
        #expect(try coordinator.stores.map(\.text) == ["Albums", "Recipes"])
        #expect(try rows("Albums") == 5)
        #expect(try rows(.named(#require(StoreName("Recipes")))) == 3)
        #expect(try rows(0) == 5)
        #expect(try rows(.index(1)) == 3)
        #expect(throws: CoordinatorError.notOneStore(count: 2)) { try rows() }
    }

    @Test(arguments: [-1, 2, .max, .min])
    func `an index beyond the stores is an error`(index: Int) async throws {
        for name in ["A", "B"] { try await inbox.install(name, rows: 1) }
        #expect(throws: CoordinatorError.noSuchIndex(index, count: 2)) { try rows(.index(index)) }
    }

    @Test(arguments: ["", "..", "../Recipes", "a/b", "Nothing", "Recipes\0", ".lock", "recipes"])
    func `a name that no store has is an error`(name: String) async throws {
        try await inbox.install(rows: 1)
        #expect(throws: CoordinatorError.noSuchStore(name)) { try rows(.name(name)) }
    }

    @Test func `an inbox may come, go, and come again`() async throws {
        let scratch = try ScratchFolder()
        let coordinator = StoreCoordinator(inbox: scratch.path.appending("inbox"))
        let read = { try coordinator.read("Recipes") { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } }
        #expect(throws: CoordinatorError.inbox(.noInbox(scratch.path.appending("inbox")))) { try coordinator.stores }
        for rows in [1, 2, 2] {
            #expect(throws: CoordinatorError.inbox(.noInbox(scratch.path.appending("inbox")))) { try read() }
            try await SampleInbox(in: scratch).install(rows: rows)
            #expect(try read() == rows)
            try Folder.removeTree(at: scratch.path.appending("inbox"))
        }
    }

    @Test func `a read that begins after a switch sees the new generation, in every coordinator`() async throws {
        let another = StoreCoordinator(inbox: inbox.root)
        for rows in 1...20 {
            try await inbox.install(rows: rows)
            #expect(try self.rows() == rows)
            #expect(try await another.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == rows)
        }
    }

    @Test func `a read that is under way finishes on its own generation, pruned or not`() async throws {
        let inbox = try SampleInbox(keeping: 1)
        let coordinator = StoreCoordinator(inbox: inbox.root)
        try await inbox.install(rows: 3000)
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let (goOn, mayGoOn) = (DispatchSemaphore(value: 0), Duration.seconds(20))
        async let sums = coordinator.read { database in
            let rows = try Int.fetchCursor(database, sql: "SELECT a FROM t")
            var sum = try rows.next() ?? 0
            hasBegun.finish()
            guard goOn.wait(timeout: .now() + mayGoOn / .seconds(1)) == .success else { throw SampleWords.Bad() }
            while let row = try rows.next() { sum += row }
            return (sum, try Int.fetchOne(database, sql: "SELECT sum(a) FROM t"))
        }
        for await _ in began {}
        try await inbox.install(rows: 5)
        #expect(inbox.numbers() == [2])
        #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 5)
        goOn.signal()
        #expect(try await sums == (3000 * 3001 / 2, 3000 * 3001 / 2))
    }

    @Test func `a read inside a read has a connection of its own`() async throws {
        try await inbox.install(rows: 2)
        func depth(_ left: Int) throws -> Int {
            try coordinator.read { database in
                let rows = try Int.fetchOne(database, sql: "SELECT count(*) FROM t") ?? 0
                return left == 0 ? rows : rows + (try depth(left - 1))
            }
        }
        #expect(try depth(11) == 24)
        let outer = try await coordinator.read { [coordinator] _ in
            try coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }
        #expect(outer == 2)
    }

    @Test func `hundreds of reads at once share a few connections`() async {
        // A process of its own, as other tests open files.
        await #expect(processExitsWith: .success) {
            let inbox = try SampleInbox()
            let coordinator = StoreCoordinator(inbox: inbox.root)
            try await inbox.install(rows: 100)
            let before = OpenDescriptors.count
            let sums = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<400 {
                    group.addTask {
                        try await coordinator.read { database in
                            let most = OpenDescriptors.count
                            return try Int.fetchOne(database, sql: "SELECT sum(a) FROM t") == 5050 ? most : 1_000_000
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sums.count == 400)
            // The folder, and a few connections.
            #expect((sums.max() ?? 0) <= before + 16)
        }
    }

    @Test func `a cancelled read ends, and its connection goes on working`() async throws {
        try await inbox.install(rows: 1)
        let coordinator = coordinator
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let (began, hasBegun) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await coordinator.read { database in
                hasBegun.finish()
                return try Int.fetchOne(database, sql: endless)
            }
        }
        for await _ in began {}
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        for _ in 0..<10 {
            #expect(try await coordinator.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        }
    }

    @Test func `every connection is prepared`() async throws {
        var options = StoreCoordinator.Options()
        options.prepareDatabase = {
            $0.add(
                function: DatabaseFunction("twice", argumentCount: 1, pure: true) { values in
                    Int.fromDatabaseValue(values[0]).map { $0 * 2 }
                })
        }
        let coordinator = StoreCoordinator(inbox: inbox.root, options: options)
        for rows in 1...2 {
            try await inbox.install(rows: rows)
            let pin = try coordinator.pin()
            let sum = try await coordinator.read { database in
                let outer = try Int.fetchOne(database, sql: "SELECT sum(twice(a)) FROM t") ?? 0
                return outer + (try pin.read { try Int.fetchOne($0, sql: "SELECT sum(twice(a)) FROM t") ?? 0 })
            }
            #expect(sum == 2 * rows * (rows + 1))
        }
    }

    @Test func `whoever can write to the inbox can stop its readers, and nothing else`() async throws {
        try await inbox.install(rows: 3)
        let current = inbox.folder().appending("current")
        let generation = try #require(try Folder.names(in: inbox.folder().appending("generations")).first)
        let outside = try ScratchFolder()
        try TestStore.make(at: outside.path.appending("Recipes.sqlite"), sql: "CREATE TABLE t(a)")
        let long = String(repeating: "x", count: 3000)
        for target in [outside.path.string, "generations/../../..", "generations", "generations/1-00000000", ".", long]
        {
            try PlatformCalls.removeFile(current)
            try PlatformCalls.symbolicLink(at: current, to: FilePath(target))
            #expect(throws: CoordinatorError.self, "\(target)") { try rows("Recipes") }
            #expect(throws: CoordinatorError.self, "\(target)") { try coordinator.pin("Recipes") }
        }
        try PlatformCalls.removeFile(current)
        try PlatformCalls.symbolicLink(at: current, to: FilePath("generations/\(generation)"))
        #expect(try rows() == 3)
        // What stands where the store should be: nothing, a folder, a pipe that nobody writes to, a link that goes round.
        let store = inbox.folder().appending("generations/\(generation)/Recipes.sqlite")
        for line in ["true", "mkdir $1", "mkfifo $1", "ln -s Recipes.sqlite $1", "echo no store > $1"] {
            try Folder.removeTree(at: store)
            _ = try await ChildProgram("/bin/sh", ["-euc", line, "sh", store.string]).wait()
            let fresh = StoreCoordinator(inbox: inbox.root)
            await #expect(throws: (any Error).self, "\(line)") { try await fresh.read { _ in } }
            #expect(throws: (any Error).self, "\(line)") { try fresh.pin() }
        }
    }
}
