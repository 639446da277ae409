import EssentialFoundation
import StoreFiles
import TestSupport
import Testing

@testable import ShipProtocol

/// Which state of a store is for whom, while states are rolled out.
@Suite struct RolloutStageTests {
    private static let name = StoreName("Recipes")

    private static func state(_ counter: UInt64, _ random: inout RepeatableRandom) throws -> PublishedHead.Store {
        PublishedHead.Store(
            name: try #require(name), newest: ManifestContent(json: random.bytes(8)).id,
            counter: counter,
            asOf: time(0), size: 4096, catalog: nil, steps: [])
    }

    private static func time(_ seconds: Int) -> Timestamp {
        Timestamp(Date(timeIntervalSince1970: TimeInterval(1_800_000_000 + seconds)))
    }

    private static func rollout(at now: Int, _ random: inout RepeatableRandom) -> [RolloutStage] {
        let count = Int.random(in: 1...4, using: &random)
        var shares = Set((0..<count).map { _ in Int.random(in: 1...RolloutStage.all, using: &random) })
        if Bool.random(using: &random) { shares.insert(RolloutStage.all) }
        var since = now
        return shares.sorted().map { share in
            since += Int.random(in: 0...40, using: &random)
            return RolloutStage(share: share, since: time(since))
        }
    }

    /// The rule itself, over all states that there ever were.
    private static func isFor(_ rollout: [RolloutStage]?, place: Int, at now: Int) -> Bool {
        guard let rollout else { return true }
        return rollout.contains { place < $0.share && $0.since <= time(now) }
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 5000 : 200))
    func `each follower takes the newest state that is for it`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var known: [PublishedHead.Store] = []
        /// All states, the newest first.
        var history: [(counter: UInt64, rollout: [RolloutStage]?)] = []
        let places =
            [0, RolloutStage.all - 1] + (0..<8).map { _ in Int.random(in: 0..<RolloutStage.all, using: &random) }
        var now = 0
        for counter in 1...UInt64(30) {
            now += Int.random(in: 0...30, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                // It is looked at, and is as it was.
                if let newest = known.first { known = known.publishing(newest.rolledOut(nil), nil, at: Self.time(now)) }
            case 1:
                known = known.needed(at: Self.time(now))
            case let kind:
                let rollout = kind == 2 ? nil : Self.rollout(at: now, &random)
                if rollout != nil {
                    let open = history.prefix { !Self.isFor($0.rollout, place: RolloutStage.all - 1, at: now) }.count
                    // One gives way where there are too many: never the one that is for all.
                    if min(open + 1, history.count) == Limits.statesOfStore { history.removeFirst() }
                } else {
                    history = []
                }
                history.insert((counter, rollout), at: 0)
                known = known.publishing(try Self.state(counter, &random), rollout, at: Self.time(now))
            }
            #expect(known.count <= Limits.statesOfStore)
            // Time goes on without another head.
            for later in [now, now + 15, now + 500] {
                for place in places {
                    let right = history.first { Self.isFor($0.rollout, place: place, at: later) }?.counter
                    #expect(known.state(for: place, at: Self.time(later))?.counter == right, "seed \(seed)")
                }
            }
            let head = PublishedHead(
                publication: ContentDigest(sha256: random.bytes(32)), number: 1, software: "test", issued: Self.time(0),
                expires: Self.time(9), next: nil, before: nil, sealing: nil, halted: [],
                stores: known.shuffled(using: &random))
            #expect(head.stores == known && Self.name.flatMap { head[$0] } == known.first)
            #expect(try PublishedHead.decode(head.jsonBytes[...], as: .manifest) == head)
        }
    }
}
