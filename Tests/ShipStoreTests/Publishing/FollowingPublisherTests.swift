import ShipProtocol
import TestSupport
import Testing

@testable import ShipStore

/// A publisher that follows its stores.
@Suite struct FollowingPublisherTests {
    /// Follows for a while.
    ///
    /// - Parameter isOver: Asked after each head.
    private static func follow(
        _ round: PublicationRound, _ publishing: Publishing, until isOver: () throws -> Bool
    ) async throws {
        let (events, told) = AsyncStream<SendEvent>.makeStream()
        let publisher = try round.publisher(publishing) { told.yield($0) }
        var following = Following()
        following.settling = .milliseconds(1)
        let task = Task { [following] in try await publisher.follow(following) }
        for await event in events {
            if case .delivered = event, try isOver() { break }
        }
        task.cancel()
        _ = await task.result
    }

    @Test func `it removes what nobody needs, a grace after nobody does`() async throws {
        let round = try PublicationRound(seed: 95)
        for _ in 0..<60 {
            try round.change()
            try await round.publish()
        }
        let before = round.storage.digests
        var publishing = Publishing()
        publishing.reissuing = .milliseconds(20)
        // By the storage's clock all was written long ago; but a hundred years is not over.
        publishing.grace = .seconds(100 * 365 * 86_400)
        var heads = 0
        try await Self.follow(round, publishing) {
            heads += 1
            return heads == 5
        }
        #expect(round.storage.digests == before)
        publishing.grace = .zero
        try await Self.follow(round, publishing) { round.storage.digests.count < before.count }
        #expect(round.storage.digests.isSubset(of: before))
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 60)
        }
    }
}
