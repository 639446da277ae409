import DeviceTrust
import EssentialFoundation
import GRDB
import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Publishers and followers of a storage that does anything: a follower holds one committed state, never an older one than before, and gets
/// to the newest as soon as the storage lets it.
@Suite struct PublicationTests {
    @Test(arguments: 0..<UInt64(Soak.isOn ? 400 : 8), [false, true])
    func `whatever the storage does, followers only go forward, and get to the newest`(
        seed: UInt64, isEncrypted: Bool
    ) async throws {
        let round = try PublicationRound(seed: seed, isEncrypted: isEncrypted)
        for _ in 0..<40 { try await round.step() }
        try await round.settle()
    }

    @Test func `a small change costs one request of the publisher, and one of a follower`() async throws {
        let round = try PublicationRound(seed: 1)
        let publisher = try round.publisher()
        _ = try await publisher.publish()
        try await round.look(0)
        try round.change()
        var before = round.storage.traffic
        _ = try await publisher.publish()
        #expect(round.storage.traffic.requests - before.requests == 1)
        #expect(round.storage.traffic.up - before.up < 2000)
        before = round.storage.traffic
        try await round.look(0)
        #expect(round.storage.traffic.requests - before.requests == 1)
        #expect(round.storage.traffic.down - before.down < 2000)
        #expect(try round.tick(of: 0) == 1)
    }

    @Test func `who is some changes behind gets them in a few bytes`() async throws {
        let round = try PublicationRound(seed: 12)
        try round.change(rows: 30_000)
        try await round.publish()
        try await round.look(0)
        for _ in 0..<25 {
            try round.change()
            try await round.publish()
        }
        let whole = round.storage.traffic
        try await round.look(1)
        let all = round.storage.traffic.down - whole.down
        let before = round.storage.traffic
        try await round.look(0)
        #expect(try round.tick(of: 0) == 26)
        // The whole takes few bytes itself, as its rows differ in numbers alone.
        #expect(round.storage.traffic.down - before.down < min(all, 3200), "of \(all)")
    }

    @Test func `who is many changes behind takes the small steps to a landmark from one object`() async throws {
        let round = try PublicationRound(seed: 12)
        try round.change(rows: 30_000)
        try await round.publish()
        for number in 0..<38 {
            try round.change()
            try await round.publish()
            if number == 2 { try await round.look(0) }
        }
        let before = round.storage.traffic.requests
        try await round.look(0)
        #expect(try round.tick(of: 0) == 39)
        // The head, the last catalog, that of a landmark, the first one after what is held, their bundles, and a leap.
        #expect(round.storage.traffic.requests - before <= 7)
    }

    @Test func `objects that nothing needs are removed, and those that something needs stay`() async throws {
        let round = try PublicationRound(seed: 2)
        for _ in 0..<60 {
            try round.change(rows: 40)
            try await round.publish()
        }
        let all = round.storage.digests
        // What was removed is told also where the rest fails.
        round.storage.set(StorageInMemory.Faults(keepsUploads: true))
        let told = Mutex((removed: 0, kept: 0))
        await #expect(throws: LinkError.closedByPeer) {
            _ = try await round.publisher().prune(after: .zero) { removed, kept in
                told.withLock { $0 = (removed, kept) }
            }
        }
        let (removed, kept) = told.withLock { $0 }
        #expect(removed > 0)
        #expect(round.storage.digests.count == kept && all.count == removed + kept)
        try await round.settle()
        // One that begins now has all that it needs.
        try await round.look(2)
        #expect(try round.tick(of: 2) == 60)
    }

    @Test(arguments: [false, true])
    func `catalogs are removed before what they lead to`(isEncrypted: Bool) async throws {
        let round = try PublicationRound(seed: 23, isEncrypted: isEncrypted)
        for _ in 0..<60 {
            try round.change()
            try await round.publish()
        }
        let (objects, secret) = (round.storage.digests, try round.keys()?.secret)
        let catalogs = objects.filter { name in
            guard let bytes = round.storage.object(name) else { return false }
            let content = secret.map { $0.cipher(for: name).open(bytes, number: 0, isLast: true) } ?? bytes
            return content.flatMap { try? StoreCatalog(decoding: $0) } != nil
        }
        _ = try await round.publisher().prune(after: .zero)
        let removed = round.storage.removed.map(catalogs.contains)
        #expect(removed.contains(true) && removed.contains(false))
        #expect(!removed.drop { $0 }.contains(true))
    }

    /// Who has the content of one catalog gets to that of the next, but for the catalog itself.
    @Test(arguments: [false, true], [false, true])
    func `a way is found around an object that is gone or damaged`(isGone: Bool, isEncrypted: Bool) async throws {
        let round = try PublicationRound(seed: 22, isEncrypted: isEncrypted)
        var catalogs: [ContentDigest] = []
        while catalogs.count < 4 {
            try round.change()
            try await round.publish()
            let catalog = try #require(try round.newestHead().head.stores.first?.catalog?.sha256)
            guard catalogs.last != catalog else { continue }
            catalogs.append(catalog)
            if catalogs.count == 3 { try await round.look(0) }
        }
        let (inbox, before) = (round.scratch.path.appending("inbox0"), round.scratch.path.appending("before"))
        try FileManager.default.copyItem(atPath: inbox.string, toPath: before.string)
        let keys = try round.keys()
        let needed = [keys?.digest, keys?.secret.name(of: catalogs[3]) ?? catalogs[3]]
        for name in round.storage.digests where !needed.contains(name) {
            try Folder.removeTree(at: inbox)
            try FileManager.default.copyItem(atPath: before.string, toPath: inbox.string)
            try round.reopen(0)
            var bytes = try #require(round.storage.object(name))
            let right = bytes
            bytes[bytes.count / 2] ^= 1
            round.storage.change { $0[name] = isGone ? nil : bytes }
            try await round.look(0)
            #expect(try round.tick(of: 0) == round.ticks)
            round.storage.change { $0[name] = right }
        }
    }

    /// Who begins gets all, whatever it was. A sender that follows a store has one publisher all the time; in a folder that looks at each time.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 100 : 12), [false, true])
    func `what is gone or cut is published anew, although nothing has changed`(
        seed: UInt64, isEncrypted: Bool
    ) async throws {
        let folder = try ScratchFolder.inMemory().path
        let round = try PublicationRound(
            seed: seed, in: PublicationFolder(at: folder), at: .folder(folder), isEncrypted: isEncrypted)
        var random = RepeatableRandom(seed: seed)
        let publisher = try round.publisher()
        let objects = folder.appending("objects")
        for index in 0..<3 {
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                try round.change()
                _ = try await publisher.publish()
            }
            let (isNew, share) = (Bool.random(using: &random), Int.random(in: 1...10, using: &random))
            // One that begins knows neither a head that is cut nor what cut keys were.
            let isCut = !isNew && Bool.random(using: &random)
            let paths =
                try Folder.names(in: objects).sorted().map { objects.appending($0) } + [folder.appending("head")]
            let lost = paths.filter { _ in Int.random(in: 0..<share, using: &random) == 0 }
            for path in lost {
                let bytes = try OpenFile.reading(path).read(1 << 20, at: 0)
                try PlatformCalls.removeFile(path)
                if isCut { try OpenFile.creating(path).write(Array(bytes.dropLast())) }
            }
            if Bool.random(using: &random) { try round.change() }
            _ = try await (isNew ? round.publisher() : publisher).publish()
            try await round.look(index)
            #expect(try round.tick(of: index) == round.ticks, "\(isCut ? "cut" : "gone"): \(lost)")
            _ = try await publisher.prune(after: .zero)
        }
        for index in 0..<3 { try await round.look(index) }
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 40 : 4))
    func `followers get on although the publisher has forgotten what it has published`(seed: UInt64) async throws {
        let round = try PublicationRound(seed: seed)
        var random = RepeatableRandom(seed: seed)
        try await round.publish()
        for _ in 0..<25 {
            try round.change()
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await round.publishInVain()
            } else {
                try await round.publish()
            }
            for index in 0..<3 where Bool.random(using: &random) {
                try await round.look(index)
                #expect(try round.tick(of: index) == round.ticks)
            }
        }
    }

    @Test func `a publisher that is cancelled while the head is written knows what it has published`() async throws {
        let round = try PublicationRound(seed: 18)
        try await round.publish()
        try round.change()
        let publisher = try round.publisher(to: InterruptedStorage(cancellingAfter: round.storage), at: round.place)
        _ = await Task { try await publisher.publish() }.result
        let before = try #require(try round.newestHead().head.stores.first)
        #expect(before.steps.count == 1)
        try round.change()
        try await round.publish()
        #expect(try round.newestHead().head.stores.first?.steps.last?.step.from == before.newest)
    }

    @Test func `who has the state before finds the newest one in the head, whenever it looks`() async throws {
        let round = try PublicationRound(seed: 21)
        try await round.publish()
        for _ in 0..<12 {
            let before = try round.newestHead().head.stores.first?.newest
            try round.change()
            try await round.publish()
            let store = try #require(try round.newestHead().head.stores.first)
            #expect(store.steps.last?.step.from == before && store.steps.last?.step.to == store.newest)
            #expect(store.steps.count <= 4)
        }
    }

    @Test func `a bundle says whose it is`() async throws {
        let round = try PublicationRound(seed: 16)
        for _ in 0..<20 {
            try round.change()
            try await round.publish()
        }
        let catalogs = round.storage.digests.compactMap { round.storage.object($0) }.compactMap {
            try? StoreCatalog(decoding: $0)
        }
        let bundles = catalogs.compactMap(\.bundle)
        #expect(bundles.count > 1)
        for bundle in bundles {
            let bytes = try #require(round.storage.object(bundle.sha256))
            #expect(try StoreCatalog.publisher(ofBundle: bytes)?.bytes == round.identity.id.bytes)
        }
    }

    @Test func `a time of a clock that was ahead does not stay`() async throws {
        let round = try PublicationRound(seed: 19)
        try await round.publish()
        let store = try #require(try round.newestHead().head.stores.first)
        let ahead = PublishedHead.Store(
            name: store.name, newest: store.newest, counter: store.counter,
            asOf: Timestamp(Date().addingTimeInterval(100_000)), size: store.size, catalog: store.catalog,
            steps: store.steps)
        round.storage.put(head: try round.head(with: [ahead]))
        try await round.publish()
        let asOf = try #require(try round.newestHead().head.stores.first?.asOf)
        #expect(asOf >= store.asOf && asOf <= Timestamp(Date()))
    }

    @Test func `a store of which an object is missing holds no other one up`() async throws {
        let round = try PublicationRound(seed: 20)
        let catalog = try #require(try await round.publishNotes(size: 10).catalog?.sha256)
        try await round.publish()
        round.storage.change { $0[catalog] = nil }
        await #expect(throws: ShipmentError.publication(.objectGone(round.place, catalog))) {
            try await round.look(0)
        }
        #expect(try round.tick(of: 0) == 0)
    }

    @Test(arguments: [false, true])
    func `nothing is fetched of a store that is refused`(isTooLarge: Bool) async throws {
        let round = try PublicationRound(seed: 21)
        let notes = try await round.publishNotes(size: 300_000)
        try await round.publish()
        var refusal = ShipmentError.notAllowed(notes.name, .sender)
        if isTooLarge {
            round.budget.storeSize = 200_000
            refusal = .tooMuch(.storeSize(notes.size, allowed: 200_000))
        } else {
            var changes = TrustList.PeerChanges()
            changes.stores = .only([try #require(StoreName("Recipes"))])
            _ = try round.device(0).trust(try round.identity.id, changes)
        }
        let before = round.storage.traffic.down
        await #expect(throws: refusal) { try await round.look(0) }
        #expect(try round.tick(of: 0) == 0)
        #expect(round.storage.traffic.down - before < 200_000)
    }

    @Test func `a part that was damaged here is brought anew`() async throws {
        let round = try PublicationRound(seed: 13)
        try round.change(rows: 3000)
        try await round.publish()
        round.storage.set(StorageInMemory.Faults(failing: 4))
        while round.parts(0).isEmpty { try? await round.look(0) }
        for part in round.parts(0) {
            let file = try OpenFile.readingWithoutFollowing(part)
            let size = try file.status.size
            try PlatformCalls.removeFile(part)
            try OpenFile.creating(part).write([UInt8](repeating: 7, count: Int(size)))
        }
        round.storage.set(StorageInMemory.Faults())
        try await round.look(0)
        #expect(try round.tick(of: 0) == 1)
        #expect(round.parts(0).isEmpty)
    }

    @Test func `what is refused leaves nothing of itself`() async throws {
        let round = try PublicationRound(seed: 14)
        try round.change(rows: 3000)
        try await round.publish()
        round.requirements.userVersions = 7...7
        await #expect(throws: ShipmentError.self) { try await round.look(0) }
        #expect(round.parts(0).isEmpty)
    }

    @Test func `a publisher that may not list goes on`() async throws {
        let round = try PublicationRound(seed: 15)
        round.storage.set(StorageInMemory.Faults(forbidsListing: true))
        var publishing = Publishing()
        publishing.reissuing = .milliseconds(30)
        let (events, told) = AsyncStream<SendEvent>.makeStream()
        let publisher = try round.publisher(publishing) { told.yield($0) }
        var following = Following()
        following.settling = .milliseconds(1)
        let task = Task { [following] in try await publisher.follow(following) }
        var (published, complaints) = (0, 0)
        for await event in events {
            switch event {
            case .delivered: published += 1
            case .disconnected: complaints += 1
            default: break
            }
            if published == 6 { break }
        }
        #expect(complaints == 1)
        task.cancel()
        _ = await task.result
    }

    @Test func `an object that broke off is resumed`() async throws {
        let round = try PublicationRound(seed: 11)
        try round.change(rows: 3000)
        try await round.publish()
        round.storage.set(StorageInMemory.Faults(failing: 6))
        var attempts = 0
        while (try? await round.look(0)) == nil, attempts < 500 { attempts += 1 }
        #expect(attempts > 0 && attempts < 500)
        #expect(try round.tick(of: 0) == 1)
        // Each piece came about once: those that came before a cut did not come again.
        #expect(round.storage.traffic.down < 3 * round.storage.traffic.up)
    }
}
