import ShipProtocol
import StoreInbox
import TestSupport
import Testing

@testable import ShipStore

/// Stores that their publisher has halted.
@Suite struct HaltTests {
    private static func status(_ round: PublicationRound, of index: Int) throws -> StoreStatus? {
        try Inbox(at: round.scratch.path.appending("inbox\(index)")).status().first
    }

    @Test func `nothing is taken of a store that is halted, until a later head says otherwise`() async throws {
        let round = try PublicationRound(seed: 40)
        try await round.publish()
        try await round.look(0)
        try round.change()
        try await round.publish()
        try await round.halt()
        for _ in 0..<3 {
            // Nothing of what is published later either; who holds nothing gets nothing.
            for index in 0..<2 { try await round.look(index) }
            try round.reopen(0)
            try round.change()
            try await round.publish()
        }
        #expect(try round.tick(of: 0) == 0 && round.tick(of: 1) == -1)
        let status = try #require(try Self.status(round, of: 0))
        #expect(status.halted == (try round.newestHead().head.halted.first?.since) && status.state == .ok)
        // Each run of each follower told it once.
        #expect(round.halts.number == 4)

        try await round.halt(false)
        for index in 0..<2 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 4)
            #expect(try Self.status(round, of: index)?.halted == nil)
        }
    }

    @Test func `who has the newest state already is as young as before`() async throws {
        let round = try PublicationRound(seed: 41)
        try await round.publish()
        try await round.look(0)
        try await round.halt()
        try await round.publish()
        try await round.look(0)
        #expect(try Self.status(round, of: 0)?.current?.age?.age != nil)
        #expect(round.halts.number == 0)
        #expect(try Self.status(round, of: 0)?.halted != nil)
    }

    @Test func `a head from before does not lift it`() async throws {
        let round = try PublicationRound(seed: 42)
        try await round.publish()
        try await round.look(0)
        try round.change()
        try await round.publish()
        try await round.halt()
        try await round.look(0)
        round.storage.goBack(by: 1)
        let error = await #expect(throws: PublicationError.self) { try await round.look(0) }
        guard case .wentBack = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try round.tick(of: 0) == 0)
    }

    @Test func `the next device goes on with what is halted`() async throws {
        let round = try PublicationRound(seed: 43)
        try await round.publish()
        try await round.look(1)
        try await round.halt()
        let since = try round.newestHead().head.halted
        try await round.handOver()
        try round.change()
        for _ in 0..<2 {
            try await round.publish()
            try await round.look(1)
            #expect(try round.tick(of: 1) == 0)
        }
        #expect(try round.newestHead().head.halted == since)
        try await round.halt(false)
        try await round.look(1)
        #expect(try round.tick(of: 1) == 1)
    }

    @Test func `the next device halts what the one before has published, before it has published itself`() async throws
    {
        let round = try PublicationRound(seed: 45)
        try await round.publish()
        try await round.look(1)
        try await round.handOver()
        let name = try #require(StoreName("Recipes"))
        let head = round.storage.head
        // A head without the stores says nothing of them.
        await #expect(throws: PublicationError.incomplete(round.place, without: [name])) {
            _ = try await round.publisher().resume([])
        }
        await #expect(throws: PublicationError.incomplete(round.place, without: [name])) {
            _ = try await round.publisher().release([])
        }
        #expect(round.storage.head == head)
        #expect(try await round.publisher().halt([name]) == [name])
        #expect(try round.newestHead().head.halted.map(\.name) == [name])
        // That head is its own, and lists no store: it has still published none.
        await #expect(throws: PublicationError.incomplete(round.place, without: [name])) {
            _ = try await round.publisher().resume([])
        }
        await #expect(throws: PublicationError.incomplete(round.place, without: [name])) { try await round.handOver() }
        try round.change()
        try await round.publish()
        try await round.look(1)
        #expect(try round.tick(of: 1) == 0)
        try await round.halt(false)
        try await round.look(1)
        #expect(try round.tick(of: 1) == 1)
    }

    @Test func `what is not published is not halted, and what is halted stays so`() async throws {
        let round = try PublicationRound(seed: 44)
        await #expect(throws: PublicationError.nothingThere(round.place)) { _ = try await round.publisher().halt([]) }
        try await round.publish()
        let (name, other) = (try #require(StoreName("Recipes")), try #require(StoreName("Notes")))
        await #expect(throws: PublicationError.notPublished(round.place, other, besides: [name])) {
            _ = try await round.publisher().halt([name, other])
        }
        #expect(try await round.publisher().halt([name]) == [name])
        let since = try round.newestHead().head.halted
        #expect(try await round.publisher().halt([]) == [name])
        #expect(try round.newestHead().head.halted == since)
        #expect(try await round.publisher().resume([name]) == [])
        #expect(try round.newestHead().head.halted == [])
    }
}
