import GRDB
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// An app makes what its bundle has the first generation.
@Suite struct AdoptionTests {
    private let scratch: ScratchFolder
    private let base: FilePath

    init() async throws {
        scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE recipe(id INTEGER PRIMARY KEY); INSERT INTO recipe VALUES (1)")
        let copy = try await LocalCopy.take(
            of: store, into: try scratch.folder("App"), as: CopyFileName("Recipes.base.sqlite"))
        base = copy.path
    }

    @Test func `it is there at the first start, and nothing happens at the next ones`() async throws {
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"))
        let first = try await consumer.adopt(base, as: "Recipes")
        #expect(first.outcome == .adopted && first.generation.number == 1)
        let rows = try await consumer.coordinator.read("Recipes") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM recipe")
        }
        #expect(rows == 1)
        let second = try await consumer.adopt(base)
        #expect(second == Adoption(generation: first.generation, outcome: .unchanged))
        let other = try #require(StoreName("Recipes"))
        try TestStore.make(
            at: scratch.path.appending("Recipes.sqlite"), sql: "INSERT INTO recipe VALUES (2)")
        let next = try await LocalCopy.take(
            of: scratch.path.appending("Recipes.sqlite"), into: try scratch.folder("Next"),
            as: CopyFileName("Recipes.base.sqlite"))
        await #expect(throws: ShipmentError.install(.hasGenerations(other, current: 1))) {
            try await consumer.adopt(next.path)
        }
        #expect(try consumer.inbox.current(of: other)?.number == 1)
    }

    @Test func `what a shipment would be refused for, it is refused for`() async throws {
        var options = Consumer.Options()
        options.requirements.userVersions = 7...7
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"), options: options)
        await #expect(throws: ShipmentError.unwelcome(.otherUserVersion(0, required: 7...7))) {
            try await consumer.adopt(base)
        }
        await #expect(throws: ShipmentError.operation(.badStoreName("../a"))) {
            try await consumer.adopt(base, as: "../a")
        }
        #expect(try consumer.inbox.listing().entries.isEmpty)
    }
}
