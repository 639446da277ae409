import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreFiles
import TestSupport
import Testing

@testable import ShipStore

/// States that are for some followers first.
@Suite struct RolloutTests {
    /// The followers of a round, the first one first, and a share that has just that one.
    private static func order(_ round: PublicationRound) throws -> (followers: [Int], share: Int) {
        let head = try round.newestHead().head
        let places = try (0..<3).map { head.place(of: try round.device($0).identity().id) }
        let followers = (0..<3).sorted { places[$0] < places[$1] }
        return (followers, places[followers[0]] + 1)
    }

    private static func publish(_ round: PublicationRound, _ stages: [Rollout.Stage]) async throws {
        var publishing = Publishing()
        publishing.rollout = Rollout(stages)
        #expect(publishing.rollout != nil)
        _ = try await round.publisher(publishing).publish()
    }

    @Test(arguments: [false, true])
    func `the first take it, the others and newcomers what was before, and all once it is released`(
        isEncrypted: Bool
    ) async throws {
        let round = try PublicationRound(seed: 60, isEncrypted: isEncrypted)
        try await round.publish()
        let (followers, share) = try Self.order(round)
        for index in followers.prefix(2) { try await round.look(index) }
        try round.change()
        try await Self.publish(round, [Rollout.Stage(share: share)])
        for _ in 0..<2 {
            for index in followers { try await round.look(index) }
            #expect(try followers.map(round.tick) == [1, 0, 0])
            // To publish what is published changes nothing of it, nor does a follower that begins anew.
            try await round.publish()
            for index in 0..<3 { try round.reopen(index) }
        }
        // Each run of those that are not the first told it once.
        #expect(round.waits.number == 4)
        #expect(try await round.publisher().release([]).rollingOut == [])
        for index in followers { try await round.look(index) }
        #expect(try followers.map(round.tick) == [1, 1, 1])
        #expect(try round.newestHead().head.stores.count == 1)
    }

    @Test func `what is mended at once reaches all, and the first stay ahead while states follow`() async throws {
        let round = try PublicationRound(seed: 61)
        try await round.publish()
        let (followers, share) = try Self.order(round)
        for tick in 1...7 {
            try round.change()
            try await Self.publish(round, [Rollout.Stage(share: share)])
            for index in followers { try await round.look(index) }
            #expect(try followers.map(round.tick) == [tick, 0, 0])
            #expect(try round.newestHead().head.stores.count == min(tick + 1, Limits.statesOfStore))
        }
        try round.change()
        try await round.publish()
        for index in followers { try await round.look(index) }
        #expect(try followers.map(round.tick) == [8, 8, 8])
        #expect(try round.newestHead().head.stores.count == 1)
    }

    @Test func `nothing is pruned that a newcomer needs for the state that is for it`() async throws {
        let round = try PublicationRound(seed: 62)
        for _ in 0..<14 {
            try round.change(rows: 30)
            try await round.publish()
        }
        let (followers, share) = try Self.order(round)
        for _ in 0..<3 {
            for _ in 0..<3 { try round.change(rows: 300) }
            try await Self.publish(round, [Rollout.Stage(share: share)])
            _ = try await round.publisher().prune(after: .zero)
        }
        for index in followers { try await round.look(index) }
        #expect(try followers.map(round.tick) == [23, 14, 14])
    }

    @Test func `whose time comes takes it without another head`() async throws {
        let round = try PublicationRound(seed: 63)
        try await round.publish()
        let (followers, share) = try Self.order(round)
        for index in followers { try await round.look(index) }
        try round.change()
        try await Self.publish(
            round, [Rollout.Stage(share: share), Rollout.Stage(share: RolloutStage.all, after: .seconds(3))])
        for index in followers { try await round.look(index) }
        #expect(try followers.map(round.tick) == [1, 0, 0])
        let head = round.storage.head
        for _ in 0..<200 where try followers.map(round.tick).contains(0) {
            try await Task.sleep(for: .milliseconds(50))
            for index in followers { try await round.look(index) }
        }
        #expect(try followers.map(round.tick) == [1, 1, 1] && round.storage.head == head)
    }

    @Test func `shares are as large as they say, other ones in another publication`() throws {
        var random = RepeatableRandom(seed: 64)
        let ids = (0..<4000).compactMap { _ in DeviceIdentifier(bytes: random.bytes(32)) }
        let now = Timestamp(Date())
        let places = (0..<2).map { _ in
            let head = PublishedHead(
                publication: ContentDigest(sha256: random.bytes(32)), number: 1, software: "test", issued: now,
                expires: now,
                next: nil, before: nil, sealing: nil, halted: [], stores: [])
            return ids.map(head.place(of:))
        }
        for share in [100, 1000, 5000, 9900] {
            let counts = places.map { $0.count { $0 < share } }
            let expected = 4000 * share / RolloutStage.all
            #expect(counts.allSatisfy { abs($0 - expected) < 150 }, "\(share): \(counts)")
        }
        let both = zip(places[0], places[1]).count { $0 < 1000 && $1 < 1000 }
        #expect(both < 120)
    }

    @Test func `stages rise, and are of somebody`() {
        func isOne(_ stages: [(Int, Int)]) -> Bool {
            Rollout(stages.map { Rollout.Stage(share: $0.0, after: .seconds($0.1)) }) != nil
        }
        #expect(isOne([(1, 0)]) && isOne([(100, 0), (1000, 0), (10_000, 60)]) && isOne((1...16).map { ($0, 0) }))
        #expect(!isOne([]) && !isOne([(0, 0)]) && !isOne([(10_001, 0)]) && !isOne([(5, 0), (5, 1)]))
        #expect(!isOne([(5, 9), (6, 8)]) && !isOne([(5, -1)]) && !isOne((1...17).map { ($0, 0) }))
    }
}
