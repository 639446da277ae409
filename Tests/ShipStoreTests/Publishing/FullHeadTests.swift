import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// A head that is as long as one may be.
@Suite struct FullHeadTests {
    /// Fills the head with a store that is none, but for so many bytes.
    ///
    /// - Returns: The store that is one.
    private static func fillHead(of round: PublicationRound, but room: Int) throws -> PublishedHead.Store {
        let head = try round.newestHead().head
        let store = try #require(head.stores.first)
        let from = try #require(store.steps.last?.step.from)
        var random = RepeatableRandom(seed: 17)
        let (bytes, name) = (random.bytes(Limits.headSize), try #require(StoreName("Filler")))
        /// The same head, with another store.
        func fuller(by size: Int) throws -> [UInt8] {
            let step = PublishedStep(from: from, to: store.newest, counter: 1, size: Int64(size), sha256: nil)
            let other = PublishedHead.Store(
                name: name, newest: store.newest, counter: 1, asOf: head.issued, size: 1, catalog: store.catalog,
                steps: [InlineStep(step, shipment: Array(bytes.prefix(size)))])
            return try round.head(with: [other, store])
        }
        var size = 200_000
        for _ in 0..<3 { size += try Limits.headSize - room - fuller(by: size).count }
        let full = try fuller(by: size)
        try #require(abs(Limits.headSize - room - full.count) < 15)
        round.storage.put(head: full)
        return store
    }

    @Test func `what is new goes into objects`() async throws {
        let round = try PublicationRound(seed: 17)
        try await round.publish()
        try round.change()
        try await round.publish()
        let store = try Self.fillHead(of: round, but: 40)
        try round.change()
        try await round.publish()
        let new = try #require(try round.newestHead().head[store.name])
        #expect(new.steps.isEmpty && new.catalog != store.catalog)
        // The other store is none.
        try? await round.look(2)
        #expect(try round.tick(of: 2) == 2)
    }

    @Test func `what it has of stores that stay as they are goes into objects, and followers find it there`()
        async throws
    {
        let round = try PublicationRound(seed: 22)
        try round.change(rows: 3000, alike: false)
        try await round.publish()
        try await round.look(0)
        for _ in 0..<3 {
            try round.change()
            try await round.publish()
        }
        let store = try Self.fillHead(of: round, but: 20)
        try #require(store.steps.count == 3)
        _ = try await round.publishNotes(size: 10)
        let moved = try #require(try round.newestHead().head[store.name])
        #expect(moved.steps.isEmpty && moved.catalog != store.catalog && moved.newest == store.newest)
        for index in [0, 2] {
            try? await round.look(index)
            #expect(try round.tick(of: index) == 4)
        }
        // It goes on from there.
        try round.change()
        try await round.publish()
        for index in 0..<3 {
            try? await round.look(index)
            #expect(try round.tick(of: index) == 5)
        }
    }
}
