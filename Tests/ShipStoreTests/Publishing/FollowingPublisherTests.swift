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

    /// In storage each look is a request: what is gone is found where it looks for what nobody needs.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 20 : 3), [false, true])
    func `what is removed from storage is published anew with the next reissue`(
        seed: UInt64, isEncrypted: Bool
    ) async throws {
        let round = try PublicationRound(seed: seed, isEncrypted: isEncrypted)
        var random = RepeatableRandom(seed: seed)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            try round.change()
            try await round.publish()
        }
        var publishing = Publishing()
        publishing.reissuing = .seconds(1)
        var heads = 0
        try await Self.follow(round, publishing) {
            heads += 1
            if heads == 1 {
                round.storage.change { objects in
                    for name in objects.keys.sorted(by: { $0.hex < $1.hex }) where Bool.random(using: &random) {
                        objects[name] = nil
                    }
                }
                if seed % 3 == 0 { round.storage.goBack(by: .max) }
            }
            return heads == 2
        }
        try await round.look(1)
        #expect(try round.tick(of: 1) == round.ticks)
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
