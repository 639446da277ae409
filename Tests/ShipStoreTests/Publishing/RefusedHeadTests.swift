import DeviceTrust
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Heads that nobody follows, whoever has signed them.
@Suite struct RefusedHeadTests {
    @Test func `an older head is refused, and what is held stays`() async throws {
        let round = try PublicationRound(seed: 3)
        for _ in 0..<3 {
            try round.change()
            try await round.publish()
            // Each number counts, and not only the first one that was seen.
            try await round.look(0)
        }
        round.storage.goBack(by: 1)
        await #expect(throws: PublicationError.self) { try await round.look(0) }
        // Also a receiver that begins anew knows.
        try round.reopen(0)
        let error = await #expect(throws: PublicationError.self) { try await round.look(0) }
        guard case .wentBack = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try round.tick(of: 0) == 3)
    }

    @Test func `another publication of the same device is refused, and so is another device's`() async throws {
        let (round, other) = (try PublicationRound(seed: 4), try PublicationRound(seed: 5))
        try await round.publish()
        try await round.look(0)
        try await other.publish()
        round.storage.certify(try other.identity)
        round.storage.put(head: try #require(other.storage.head))
        await #expect(throws: PublicationError.otherPublisher(round.place, try other.identity.id)) {
            try await round.look(0)
        }
        let second = StorageInMemory(seed: 6)
        _ = try await round.publisher(to: second, at: .folder("elsewhere")).publish()
        round.storage.put(head: try #require(second.head))
        await #expect(throws: PublicationError.otherPublication(round.place)) { try await round.look(0) }
        #expect(try round.tick(of: 0) == 0)
    }

    @Test func `a publisher leaves what another device has published`() async throws {
        let (round, other) = (try PublicationRound(seed: 7), try PublicationRound(seed: 8))
        try await round.publish()
        let head = round.storage.head
        await #expect(throws: PublicationError.otherPublisher(round.place, try round.identity.id)) {
            _ = try await other.publisher(to: round.storage, at: round.place).publish()
        }
        #expect(round.storage.head == head)
    }

    @Test func `a head that has expired is refused, and none that is older is taken after it`() async throws {
        let round = try PublicationRound(seed: 9)
        try await round.publish()
        try round.change()
        var publishing = Publishing()
        publishing.validity = .zero
        _ = try await round.publisher(publishing).publish()
        let expired = await #expect(throws: PublicationError.self) { try await round.look(0) }
        guard case .expired = expired else {
            Issue.record("\(String(describing: expired))")
            return
        }
        round.storage.goBack(by: 1)
        let older = await #expect(throws: PublicationError.self) { try await round.look(0) }
        guard case .wentBack = older else {
            Issue.record("\(String(describing: older))")
            return
        }
    }

    @Test func `a device that is not trusted publishes for nobody`() async throws {
        let round = try PublicationRound(seed: 10)
        try await round.publish()
        let stranger = try DeviceFolder(at: round.scratch.path.appending("stranger")).identity()
        _ = try round.device(0).trust(stranger.id)
        await #expect(throws: ShipmentError.unknownSigner(try round.identity.id)) { try await round.look(0) }
        _ = try round.device(0).trust(round.identity.id)
        try await round.look(0)
        #expect(try round.tick(of: 0) == 0)
    }
}
