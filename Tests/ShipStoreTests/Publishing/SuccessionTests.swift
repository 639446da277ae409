import DeviceTrust
import EssentialFoundation
import ShipProtocol
import StoreInbox
import TestSupport
import Testing

@testable import ShipStore

/// A device that names the next, which goes on with its publication.
@Suite struct SuccessionTests {
    /// A head of a device as whoever has its key may sign it.
    private static func forged(
        _ round: PublicationRound, phone: Int = 0, number: UInt64, next: Int? = nil, before: PublishedObject? = nil
    ) throws -> [UInt8] {
        let (head, device) = (try round.newestHead().head, try round.identity(ofPhone: phone))
        round.storage.certify(device)
        let next = try next.map { ContentDigest(sha256: try round.identity(ofPhone: $0).id.bytes) }
        return try device.sign(
            PublishedHead(
                publication: head.publication, number: number, software: "ship-store", issued: head.issued,
                expires: head.expires, next: next, before: before, sealing: nil, halted: [], stores: head.stores)
        ).encoded
    }

    private static func put(_ file: [UInt8], in round: PublicationRound) -> PublishedObject {
        let object = PublishedObject(sha256: ContentDigest(hashing: file), size: Int64(file.count))
        round.storage.change { $0[object.sha256] = file }
        return object
    }

    private static func origin(_ round: PublicationRound, of index: Int) throws -> OriginRecord? {
        let inbox = Inbox(at: round.scratch.path.appending("inbox\(index)"))
        return try inbox.open().originRecord(of: try #require(StoreName("Recipes")))
    }

    private static func isOlder(_ error: PublicationError?) -> Bool {
        if case .wentBack = error { true } else { false }
    }

    @Test func `who follows the old device goes on with the next, and the numbers rise`() async throws {
        let round = try PublicationRound(seed: 20)
        for _ in 0..<3 {
            try round.change()
            try await round.publish()
        }
        for index in 0..<2 { try await round.look(index) }
        let before = try #require(try Self.origin(round, of: 1))
        try await round.handOver()
        // One sees the last head of the old device, and two do not.
        try await round.look(0)
        try round.reopen(0)
        try await round.look(0)
        try round.change()
        try await round.publish()
        let next = try round.identity(ofPhone: 1).id
        _ = try round.device(2).trust(try round.identity.id)
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 4)
            let origin = try #require(try Self.origin(round, of: index))
            #expect(origin.producer == ContentDigest(sha256: next.bytes) && origin.highest > before.highest)
        }
        // From here on a change is small again.
        try round.change()
        try await round.publish()
        let traffic = round.storage.traffic
        try await round.look(1)
        #expect(try round.tick(of: 1) == 5)
        #expect(round.storage.traffic.down - traffic.down < 2500)
    }

    @Test func `a key that was stolen takes nothing back`() async throws {
        let round = try PublicationRound(seed: 21)
        try await round.publish()
        try await round.look(1)
        try await round.handOver()
        let last = try #require(round.storage.head)
        try await round.look(1)
        let number = try round.newestHead().head.number
        let old = try round.identity.id
        /// Whatever the old key signs, also before the next device has published.
        func tryForging() async throws {
            for next in [nil, 1, 2] {
                round.storage.put(head: try Self.forged(round, number: number, next: next))
                let same = await #expect(throws: PublicationError.self) { try await round.look(1) }
                #expect(Self.isOlder(same) || same == .otherPublisher(round.place, old))
                round.storage.put(head: try Self.forged(round, number: number + 1000, next: next))
                await #expect(throws: PublicationError.otherPublisher(round.place, old)) { try await round.look(1) }
                round.storage.goBack(by: 2)
            }
            // One that the old key names now, and that says so.
            let named = Self.put(try Self.forged(round, number: number + 1, next: 2), in: round)
            round.storage.put(head: try Self.forged(round, phone: 2, number: number + 2000, before: named))
            let other = try round.identity(ofPhone: 2).id
            await #expect(throws: PublicationError.otherPublisher(round.place, other)) { try await round.look(1) }
            round.storage.goBack(by: 1)
            try round.reopen(1)
        }
        try await tryForging()
        try round.change()
        try await round.publish()
        try await round.look(1)
        try await tryForging()
        round.storage.put(head: last)
        #expect(Self.isOlder(await #expect(throws: PublicationError.self) { try await round.look(1) }))
        // Nor does it in a file.
        let file = round.scratch.path.appending("Recipes.shipment")
        _ = try await round.publisher(of: 0).producer.send(to: file)
        let name = try #require(StoreName("Recipes"))
        await #expect(throws: ShipmentError.install(.outOfSequence(name, .otherDevice))) {
            _ = try await round.receive(file, by: 1)
        }
        #expect(try round.tick(of: 1) == 1)
    }

    @Test func `a chain leads from a device that is known to the one that publishes`() async throws {
        let round = try PublicationRound(seed: 22)
        try await round.publish()
        for index in 0..<2 { try await round.look(index) }
        for _ in 0..<4 {
            try await round.handOver()
            try round.change()
            try await round.publish()
        }
        for index in 0..<2 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 4)
        }
        // Also if a device in between is the one that is trusted.
        _ = try round.device(2).trust(try round.identity(ofPhone: 2).id)
        try await round.look(2)
        #expect(try round.tick(of: 2) == 4)
    }

    @Test func `a device that is trusted no longer has no successor that is`() async throws {
        let round = try PublicationRound(seed: 23)
        try await round.publish()
        let stranger = try DeviceFolder(at: round.scratch.path.appending("stranger")).identity()
        _ = try round.device(1).trust(stranger.id)
        try await round.look(1)
        try await round.handOver()
        try round.change()
        try await round.publish()
        try await round.look(1)
        _ = try round.device(1).distrust(try round.identity.id.text)
        try round.change()
        try await round.publish()
        let next = try round.identity(ofPhone: 1).id
        await #expect(throws: ShipmentError.unknownSigner(next)) { try await round.look(1) }
        try round.reopen(1)
        await #expect(throws: ShipmentError.unknownSigner(next)) { try await round.look(1) }
        #expect(try round.tick(of: 1) == 1)
        // What the list says of the device itself comes first.
        _ = try round.device(1).trust(next)
        try await round.look(1)
        #expect(try round.tick(of: 1) == 2)
    }

    @Test func `the next device may send the stores of the one before, and no others`() async throws {
        let round = try PublicationRound(seed: 24)
        var changes = TrustList.PeerChanges()
        changes.stores = .only([try #require(StoreName("Notes"))])
        _ = try round.device(1).trust(try round.identity.id, changes)
        try await round.publish()
        try await round.handOver()
        try await round.publish()
        await #expect(throws: ShipmentError.notAllowed(try #require(StoreName("Recipes")), .sender)) {
            try await round.look(1)
        }
        #expect(try round.tick(of: 1) == -1)
    }

    @Test func `a device that went on after all has not named that one`() async throws {
        let round = try PublicationRound(seed: 25)
        try await round.publish()
        let early = try Self.forged(round, number: try round.newestHead().head.number + 1, next: 1)
        try round.change()
        try await round.publish()
        try await round.look(1)
        let number = try round.newestHead().head.number
        let before = Self.put(early, in: round)
        round.storage.put(head: try Self.forged(round, phone: 1, number: number + 10, before: before))
        #expect(Self.isOlder(await #expect(throws: PublicationError.self) { try await round.look(1) }))
    }

    @Test func `a chain whose links do not fit is none`() async throws {
        let (round, other) = (try PublicationRound(seed: 26), try PublicationRound(seed: 27))
        try await round.publish()
        try await other.publish()
        round.storage.certify(try other.identity)
        try await round.look(1)
        let number = try round.newestHead().head.number
        let wrong = [
            // It names nobody, another one, or comes after the head that it is to come before; or it is of another publication.
            try Self.forged(round, number: number + 1), try Self.forged(round, number: number + 1, next: 2),
            try Self.forged(round, number: number + 10, next: 1), try Self.forged(other, number: number + 1, next: 1),
        ]
        for file in wrong {
            let before = Self.put(file, in: round)
            round.storage.put(head: try Self.forged(round, phone: 1, number: number + 10, before: before))
            await #expect(throws: PublicationError.badObject(round.place, before.sha256)) { try await round.look(1) }
        }
    }

    @Test func `who has handed over publishes nothing more`() async throws {
        let round = try PublicationRound(seed: 28)
        try await round.publish()
        try await round.handOver()
        let (first, next, third) = (
            try round.publisher(of: 0), try round.identity(ofPhone: 1).id, try round.identity(ofPhone: 2).id
        )
        await #expect(throws: PublicationError.handedOver(round.place, to: next)) { _ = try await first.publish() }
        let head = round.storage.head
        try await first.handOver(to: next)
        await #expect(throws: PublicationError.handedOver(round.place, to: next)) {
            try await first.handOver(to: third)
        }
        await #expect(throws: PublicationError.otherPublisher(round.place, try round.identity.id)) {
            _ = try await round.publisher(of: 2).publish()
        }
        #expect(round.storage.head == head)
        await #expect(throws: TrustListError.isThisDevice) { try await round.publisher().handOver(to: next) }
    }

    @Test func `who has lost its head goes on from the last one of the device before`() async throws {
        let round = try PublicationRound(seed: 33)
        try await round.publish()
        try await round.handOver()
        try await round.publish()
        let last = try #require(try round.newestHead().head.before?.sha256)
        try round.change()
        try await round.publish()
        for index in 0..<2 { try await round.look(index) }
        round.storage.put(head: try #require(round.storage.object(last)))
        try round.change()
        try await round.publish()
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 2)
        }
    }

    @Test func `who has published nothing names nobody`() async throws {
        let round = try PublicationRound(seed: 32)
        await #expect(throws: PublicationError.nothingThere(round.place)) { try await round.handOver() }
        try await round.publish()
        try await round.handOver()
        let (head, name) = (round.storage.head, try #require(StoreName("Recipes")))
        await #expect(throws: PublicationError.incomplete(round.place, without: [name])) { try await round.handOver() }
        #expect(round.storage.head == head)
        try await round.publish()
        try await round.handOver()
    }

    @Test func `sixteen devices have published before the last one, and no more`() async throws {
        let round = try PublicationRound(seed: 31)
        try await round.publish()
        try await round.look(1)
        for _ in 0..<Limits.formerPublishers {
            try await round.handOver()
            try await round.publish()
        }
        try round.change()
        try await round.publish()
        await #expect(throws: PublicationError.tooMany(round.place)) { try await round.handOver() }
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 1)
        }
    }

    @Test func `objects of the old device are removed a grace after the change`() async throws {
        let round = try PublicationRound(seed: 29)
        for _ in 0..<12 {
            try round.change(rows: 40)
            try await round.publish()
        }
        let (old, end) = (round.storage.digests, round.storage.time)
        for _ in 0..<5 { _ = try await round.storage.head(unlike: nil, fresh: true) }
        try await round.handOver()
        try round.change()
        try await round.publish()
        /// So long ago that the old device had published all, and the next one nothing.
        let grace = Duration.seconds(Date().timeIntervalSince1970 - Double(end) - 3)
        _ = try await round.publisher().prune(after: grace)
        let catalog = try #require(try round.formerHead().stores.first?.catalog)
        #expect(old.contains(catalog.sha256) && round.storage.digests.contains(catalog.sha256))
        _ = try await round.publisher().prune(after: .zero)
        // Its last head is among the objects, and is read with its certificate.
        let certificate = ContentDigest(sha256: try round.identity(ofPhone: 0).id.bytes)
        #expect(round.storage.digests.intersection(old) == [certificate])
        for index in 0..<3 {
            try await round.look(index)
            #expect(try round.tick(of: index) == 13)
        }
    }

    @Test func `a number that is too far above is not gone on from`() async throws {
        let round = try PublicationRound(seed: 30)
        try await round.publish()
        let number = try round.newestHead().head.number
        round.storage.put(head: try Self.forged(round, number: number + (1 << 33), next: 1))
        await #expect(throws: PublicationError.self) { _ = try await round.publisher(of: 1).publish() }
    }
}
