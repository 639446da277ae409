import EssentialFoundation
import Foundation
import ShipLinks
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore
@testable import ShipStoreNetwork

/// Each fault at each request, of who publishes into storage, of who follows it and of who prunes it: a publisher has published, or says that it has not, and
/// the next one mends it; a follower holds one committed state, never an older one than before, and gets to the newest when faults end.
@Suite struct StorageFaultTests {
    @Test func `each fault at each request is survived`() async throws {
        let desk = try FaultDesk()
        // Nothing is there yet; a change in the head; a catalog; a whole that is due again.
        var seen: Set<FaultDesk.Kind> = []
        for changes in [100] + [Int](repeating: 1, count: 12) + [200] where seen.count < FaultDesk.Kind.allCases.count {
            try desk.change(changes)
            let kind = try await desk.publish()
            // One of each kind is enough.
            guard seen.insert(kind).inserted else { continue }
            try await desk.tryPublisher()
            try await desk.tryFollowers(of: kind)
            if kind == .whole { try await desk.tryPruning() }
        }
        #expect(seen == Set(FaultDesk.Kind.allCases))
        #expect(desk.runs > 200)
        #expect(desk.hasSentParts)
    }

    @Test(arguments: [false, true])
    func `nothing is published where conditions are ignored, whatever else fails`(isRemovable: Bool) async throws {
        let server = try StorageServer()
        server.ignoreConditions(forbiddingRemoval: !isRemovable)
        let (storage, place) = try StorageServer.publication(onPort: server.port)
        let round = try PublicationRound(seed: 2, in: storage, at: place)
        for index in 0..<12 {
            server.set((kind: .down, at: index, lasts: true))
            await #expect(throws: (any Error).self) { try await round.publish() }
            server.set(nil)
            await #expect(throws: PublicationError.ignoresConditions(place)) { try await round.publish() }
            #expect(server.content.heads.isEmpty)
        }
    }

    @Test func `buckets of one name at two servers are two publications, and one without its head is the same again`()
        async throws
    {
        let servers = [try StorageServer(), try StorageServer()]
        let round = try PublicationRound(seed: 4)
        var options = Consumer.Options()
        options.trust = .trustedPeers(of: round.device(1))
        let consumer = try Consumer(inbox: round.scratch.path.appending("inbox"), options: options)
        var publications: [ContentDigest] = []
        for server in servers + servers {
            var content = server.content
            content.heads = []
            server.set(content)
            let (storage, place) = try StorageServer.publication(onPort: server.port)
            _ = try await round.publisher(to: storage, at: place).publish()
            let head = try #require(server.content.heads.last)
            publications.append(try HeadFile(decoding: head).head().publication)
            _ = try await Subscription(consumer, to: storage, at: place) { _ in }.look()
        }
        #expect(publications[0] != publications[1])
        #expect(publications[2...] == publications[..<2])
    }

    @Test func `conditions are tried once for each bucket, also where a head is already`() async throws {
        let (scratch, server) = (try ScratchFolder.inMemory(), try StorageServer())
        func storage(_ memory: String) throws -> BucketPublication {
            try StorageServer.publication(onPort: server.port, remembering: scratch.path.appending(memory)).storage
        }
        let place = try Endpoint("s3://bucket/kitchen")
        let round = try PublicationRound(seed: 3, in: try storage("own"), at: place)
        /// - Returns: How many requests it took.
        func publish(to storage: BucketPublication) async throws -> Int {
            server.set(nil)
            _ = try await round.publisher(to: storage, at: place).publish()
            return server.requests
        }
        try await round.publish()
        let usual = try await publish(to: try storage("own"))
        #expect(try await publish(to: try storage("other")) == usual + 4)
        #expect(try await publish(to: try storage("other")) == usual)
        // Somebody has published here who said that it does not matter.
        server.ignoreConditions(forbiddingRemoval: false)
        let head = server.content.heads.last
        await #expect(throws: PublicationError.ignoresConditions(place)) {
            _ = try await publish(to: try storage("third"))
        }
        #expect(server.content.heads.last == head)
    }
}

/// A publication in storage, its publisher and its followers: one that has the state before, one that is long behind, and one that has none.
private final class FaultDesk {
    /// What is published.
    enum Kind: CaseIterable { case first, small, catalog, whole }

    private let server: StorageServer
    private let round: PublicationRound
    private var (before, after): (Moment, Moment)
    private(set) var runs = 0
    var hasSentParts: Bool { server.hasSentParts }

    struct Flaw: Error { let what: String }

    /// What lies in the storage, and a folder with what changes beside it: the publisher's device and copies, and each follower's inbox.
    private struct Moment {
        let folder: FilePath
        var content = StorageServer.Content()

        private static let changing = ["phone", "bases", "inbox0", "inbox1", "inbox2"]

        static func copy(from: FilePath, to: FilePath) throws {
            for name in changing {
                let (source, target) = (from.appending(name).string, to.appending(name).string)
                try? FileManager.default.removeItem(atPath: target)
                guard FileManager.default.fileExists(atPath: source) else { continue }
                try FileManager.default.copyItem(atPath: source, toPath: target)
            }
        }
    }

    init() throws {
        server = try StorageServer()
        let (storage, place) = try StorageServer.publication(onPort: server.port)
        round = try PublicationRound(seed: 1, in: storage, at: place)
        (before, after) = (
            Moment(folder: try round.scratch.folder("before")), Moment(folder: try round.scratch.folder("after"))
        )
    }

    func change(_ times: Int) throws { for _ in 0..<times { try round.change() } }

    /// Publishes without faults.
    func publish() async throws -> Kind {
        try save(&before)
        try await round.publish()
        try save(&after)
        guard let old = try catalog(of: before) else { return .first }
        guard let new = try catalog(of: after) else { throw Flaw(what: "there is no catalog") }
        return new == old ? .small : new.skips.isEmpty ? .whole : .catalog
    }

    private func save(_ moment: inout Moment) throws {
        moment.content = server.content
        try Moment.copy(from: round.scratch.path, to: moment.folder)
    }

    private func restore(_ moment: Moment) throws {
        try Moment.copy(from: moment.folder, to: round.scratch.path)
        server.set(moment.content)
        server.set(nil)
        for index in 0..<3 { try round.reopen(index) }
    }

    private func catalog(of moment: Moment) throws -> StoreCatalog? {
        guard let bytes = moment.content.heads.last,
            let object = try HeadFile(decoding: bytes).head().stores.first?.catalog,
            let catalog = moment.content.objects["objects/\(object.sha256.hex)"]
        else { return nil }
        return try StoreCatalog(decoding: catalog)
    }

    // MARK: Runs

    /// Runs once without faults, to count the requests, and then with each fault at each of them, once and lasting.
    private func forEachFault(
        _ kinds: [StorageServer.Fault] = StorageServer.Fault.allCases, at moment: Moment,
        lasting canLast: (StorageServer.Fault) -> Bool = \.canLast, _ run: () async throws -> Void,
        checking check: () async throws -> Void
    ) async throws {
        try restore(moment)
        try await run()
        for index in 0..<server.requests {
            // The short form leaves out every other one, and at the next request those between.
            for (number, kind) in kinds.enumerated() where Soak.isOn || (number + index) % 3 == 0 {
                for lasts in canLast(kind) ? [false, true] : [false] {
                    try restore(moment)
                    server.set((kind, index, lasts))
                    do {
                        do {
                            try await run()
                        } catch let flaw as Flaw {
                            throw flaw
                        } catch {
                            if error is BrokenInvariant || kind == .bodyTooSlow { throw error }
                        }
                        server.set(nil)
                        try await check()
                        if let flaw = server.flaws.first { throw Flaw(what: flaw) }
                    } catch {
                        Issue.record("\(kind) at request \(index)\(lasts ? ", lasting" : ""): \(error)")
                    }
                    runs += 1
                }
            }
        }
        try restore(after)
    }

    func tryPublisher() async throws {
        try await forEachFault(at: before) {
            let number = try headNumber
            try await round.publish()
            guard try headNumber > number else { throw Flaw(what: "it says that it has published, and has not") }
        } checking: {
            // The next one mends it, and who begins gets it.
            try await round.publish()
            try await round.look(2)
            guard try round.tick(of: 2) == round.ticks else { throw Flaw(what: "the next one does not mend it") }
            // An answer that was lost may leave one, and no more.
            guard server.content.uploads.count <= 1 else { throw Flaw(what: "parts are left") }
        }
    }

    /// What was removed is nothing that anybody needs: neither who begins nor who has the state before.
    func tryPruning() async throws {
        let some: [StorageServer.Fault] = [.closed, .answerLost, .conflict, .tooMany, .down, .stale, .cut]
        // A head from before that stays there is for the next publisher to mend.
        try await forEachFault(Soak.isOn ? StorageServer.Fault.allCases : some, at: after, lasting: { $0 == .down }) {
            let (removed, kept) = try await round.publisher().prune(after: .zero)
            guard removed > 0, kept == server.content.objects.count else { throw Flaw(what: "it counts wrong") }
        } checking: {
            for index in [0, 2] {
                try await round.look(index)
                guard try round.tick(of: index) == round.ticks else { throw Flaw(what: "\(index) does not get on") }
            }
            _ = try await round.publisher().prune(after: .zero)
        }
    }

    private var headNumber: UInt64 {
        get throws { try server.content.heads.last.map { try HeadFile(decoding: $0).head().number } ?? 0 }
    }

    func tryFollowers(of kind: Kind) async throws {
        var moment = before
        moment.content = after.content
        // Who is long behind, and who begins, read a catalog.
        for index in kind == .catalog ? [1, 2] : [0] {
            var held = -1
            try await forEachFault(StorageServer.Fault.allCases.filter(\.isOfReading), at: moment) {
                held = try round.tick(of: index)
                try await round.look(index)
            } checking: {
                guard try round.tick(of: index) >= held else { throw Flaw(what: "it went back") }
                try await round.look(index)
                guard try round.tick(of: index) == round.ticks else { throw Flaw(what: "it does not get on") }
            }
        }
        try await round.look(0)
        if try round.tick(of: 1) < 0 { try await round.look(1) }
    }
}
