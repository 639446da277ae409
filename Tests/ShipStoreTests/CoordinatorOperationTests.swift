import GRDB
import ShipStore
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct CoordinatorOperationTests {
    private let scratch: ScratchFolder
    private let recipes: FilePath
    private let photos: CoreDataSample
    private let coordinator: StoreCoordinator
    private let options: CopyOptions

    init() throws {
        scratch = try ScratchFolder()
        let phone = try scratch.folder("phone")
        recipes = phone.appending("Recipes.sqlite")
        try TestStore.make(
            at: recipes, sql: "PRAGMA journal_mode = WAL; CREATE TABLE recipe(a); INSERT INTO recipe VALUES (1);")
        photos = try CoreDataSample(at: phone.appending("Photos.sqlite"))
        try photos.addEverything()
        coordinator = try StoreCoordinator(files: [.live(recipes), .live(photos.path)])
        var options = CopyOptions()
        options.temporaryFolder = try scratch.folder("temporary")
        self.options = options
    }

    private func count() async throws -> Int? {
        try await coordinator.read("Recipes") { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") }
    }

    @Test func `readers are told that their store was restored, and see it`() async throws {
        let copy = try await TemporaryCopy.take(of: recipes, options: options)
        try TestStore.make(at: recipes, sql: "INSERT INTO recipe VALUES (2), (3);")
        #expect(try await count() == 3)
        var changes = try coordinator.changes().makeAsyncIterator()
        let restoration = try await coordinator.restore("Recipes", from: copy.path)
        #expect(await changes.next() == .rewritten(try #require(StoreName("Recipes"))))
        #expect(try await count() == 1)
        let before = try #require(restoration.safetyCopy).path.appending("Recipes.sqlite")
        #expect(try StoreContent(of: before).tables["recipe"]?.count == 3)
    }

    @Test func `a restore that ends while its coordinator is suspended has its result`() async throws {
        let copy = try await TemporaryCopy.take(of: recipes, options: options)
        try TestStore.make(at: recipes, sql: "INSERT INTO recipe VALUES (2), (3);")
        var changes = try coordinator.changes().makeAsyncIterator()
        // It waits for the writer until the coordinator is suspended.
        let writer = try TestStore.open(recipes)
        try await writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let path = copy.path
        let restoring = Task { [coordinator] in try await coordinator.restore("Recipes", from: path) }
        try await Task.sleep(for: .milliseconds(500))
        #expect(await coordinator.suspend() == .complete)
        try await writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try writer.close()
        #expect(try await restoring.value.safetyCopy != nil)
        try coordinator.resume()
        #expect(await changes.next() == .rewritten(try #require(StoreName("Recipes"))))
        #expect(try await count() == 1)
        withExtendedLifetime(copy) {}
    }

    enum Replacement: CaseIterable { case byTheCoordinator, byAnother, byRenaming }

    /// The damage is done under the coordinator's open connection, and found by it.
    @Test(arguments: ["WAL", "DELETE"], Replacement.allCases)
    func `a store whose file was replaced after damage is opened anew`(mode: String, replacement: Replacement)
        async throws
    {
        try TestStore.make(at: recipes, sql: "PRAGMA journal_mode = \(mode);")
        let copy = try await LocalCopy.take(of: recipes, into: scratch.folder("copies"), options: options)
        #expect(try await count() == 1)
        try TestStore.make(at: recipes, sql: "INSERT INTO recipe VALUES (2);")
        #expect(try await count() == 2)
        let file = try FileDescriptor.open(recipes, .writeOnly)
        try file.writeAll(toAbsoluteOffset: 0, [UInt8](repeating: 0x5A, count: 8192))
        try file.close()
        // In WAL mode all that a reader needs may be in the log.
        if mode == "DELETE" { await #expect(throws: DatabaseError.self) { _ = try await count() } }
        switch replacement {
        case .byTheCoordinator:
            var changes = try coordinator.changes().makeAsyncIterator()
            let restoration = try await coordinator.restore("Recipes", from: copy.path)
            #expect(restoration.damage?.keptAs != nil)
            #expect(await changes.next() == .rewritten(try #require(StoreName("Recipes"))))
        case .byAnother: #expect(try await LocalStore(recipes).restore(from: copy.path).damage?.keptAs != nil)
        case .byRenaming:
            for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath(recipes.string + ending)) }
            try PlatformCalls.rename(copy.path, to: recipes)
        }
        #expect(try await count() == 1)
        // It is the new file that is read, not a state of it.
        try TestStore.make(at: recipes, sql: "INSERT INTO recipe VALUES (7), (8), (9);")
        #expect(try await count() == 4)
    }

    @Test func `all its stores are copied, external files included`() async throws {
        let folder = try scratch.folder("copies")
        let copies = try await coordinator.copyAll(into: folder, options: options)
        #expect(copies.map(\.manifest.name.text) == ["Recipes", "Photos"])
        #expect(try StoreContent(of: copies[0].path) == StoreContent(of: recipes))
        #expect(try CoreDataSample.files(beside: copies[1].path) == CoreDataSample.files(beside: photos.path))
        let temporary = try await coordinator.temporaryCopies(options: options)
        #expect(try StoreContent(of: temporary[0].path) == StoreContent(of: recipes))
        #expect(try temporary.map { try StoreContent(of: $0.path) } == copies.map { try StoreContent(of: $0.path) })
    }

    @Test func `what is current in an inbox is copied, and never restored`() async throws {
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"))
        let shipment = scratch.path.appending("photos.shipment")
        _ = try await Producer(photos.path).send(to: .file(shipment))
        _ = try await consumer.receive(from: .file(shipment))
        let copies = try await consumer.coordinator.temporaryCopies(options: options)
        #expect(try StoreContent(of: #require(copies.first).path) == StoreContent(of: photos.path))
        #expect(try CoreDataSample.files(beside: copies[0].path) == CoreDataSample.files(beside: photos.path))
        await #expect(throws: ShipmentError.serving(.hasNoFile(try #require(StoreName("Photos"))))) {
            _ = try await consumer.coordinator.restore(from: copies[0].path)
        }
    }
}
