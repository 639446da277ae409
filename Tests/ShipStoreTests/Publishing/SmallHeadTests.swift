import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// What a head leaves to others: its publisher's certificate is an object, and a step on the way to another one has no signature of its own.
@Suite struct SmallHeadTests {
    @Test(arguments: [false, true])
    func `a certificate is read once, and stays`(isEncrypted: Bool) async throws {
        let round = try PublicationRound(seed: 30, isEncrypted: isEncrypted)
        let publisher = try round.publisher()
        _ = try await publisher.publish()
        try await round.look(0)
        let id = ContentDigest(sha256: try round.identity.id.bytes)
        let name = try round.keys()?.secret.name(of: id) ?? id
        #expect(try isEncrypted || round.storage.object(name) == round.identity.certificate)
        round.storage.change { $0[name] = nil }
        try round.change()
        _ = try await publisher.publish()
        // It is in the inbox, too.
        try round.reopen(0)
        try await round.look(0)
        #expect(try round.tick(of: 0) == 1)
        await #expect(throws: PublicationError.objectGone(round.place, id)) { try await round.look(1) }
        try await round.publish()
        _ = try await round.publisher().prune(after: .zero)
        #expect(round.storage.object(name) != nil)
    }

    @Test(arguments: [0, 200, 4096, 4097])
    func `what lies in the place of a certificate is none`(size: Int) async throws {
        let round = try PublicationRound(seed: 31)
        try await round.publish()
        let id = ContentDigest(sha256: try round.identity.id.bytes)
        round.storage.change { $0[id] = [UInt8](repeating: 7, count: size) }
        await #expect(throws: PublicationError.badObject(round.place, id)) { try await round.look(1) }
        #expect(try round.tick(of: 1) == -1)
    }

    @Test func `the last step of a store has a signature, those before have none, and who takes them has it`()
        async throws
    {
        let round = try PublicationRound(seed: 32)
        try await round.publish()
        try await round.look(1)
        for _ in 0..<3 {
            try round.change()
            try await round.publish()
        }
        let store = try #require(try round.newestHead().head.stores.first)
        #expect(store.steps.map { $0.step.signature == nil } == [true, true, false])
        try await round.look(1)
        #expect(try round.tick(of: 1) == 3)
        #expect(try Self.held(by: 1, round).manifest.counter == store.counter)
    }

    /// As it is when the receiver stops between two steps.
    @Test func `what a step on the way brings is not passed on, and the next one is`() async throws {
        let round = try PublicationRound(seed: 33)
        try await round.publish()
        try await round.look(1)
        for _ in 0..<2 {
            try round.change()
            try await round.publish()
        }
        let (head, store) = (round.storage.head, try #require(try round.newestHead().head.stores.first))
        let step = try #require(store.steps.first?.step)
        round.storage.put(
            head: try round.head(with: [
                PublishedHead.Store(
                    name: store.name, newest: step.to, counter: step.counter, asOf: store.asOf, size: store.size,
                    catalog: store.catalog, steps: Array(store.steps.prefix(1)))
            ]))
        try await round.look(1)
        #expect(try round.tick(of: 1) == 1)
        #expect(throws: ShipmentError.self) { try Self.held(by: 1, round) }
        round.storage.put(head: try #require(head))
        try await round.look(1)
        #expect(try round.tick(of: 1) == 2)
        #expect(try Self.held(by: 1, round).manifest.counter == store.counter)
    }

    /// A relay's version of what a follower holds.
    private static func held(by index: Int, _ round: PublicationRound) throws -> StoreVersion {
        let inbox = Inbox(at: round.scratch.path.appending("inbox\(index)"))
        return try HeldStore(inbox: inbox, name: try #require(StoreName("Recipes"))).version(
            workingIn: round.scratch.path)
    }

    /// Of each step 80 bytes are digests, and 30 are random text.
    @Test func `a head with a change has few bytes, and few more for each one before`() async throws {
        let round = try PublicationRound(seed: 34)
        try await round.publish()
        var sizes: [Int] = []
        for _ in 0..<4 {
            try round.change()
            try await round.publish()
            sizes.append(try #require(round.storage.head).count)
        }
        #expect(sizes[0] < 560, "\(sizes)")
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $1 - $0 < 200 }, "\(sizes)")
    }
}
