import DeviceTrust
import EssentialFoundation
import GRDB
import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A store, its publishers, and three followers, of which one trusts the first publisher alone; one seed.
final class PublicationRound {
    let scratch: ScratchFolder
    let storage: StorageInMemory
    /// Where it is published.
    private let publication: any PublicationStorage
    let place: Endpoint
    private var random: RepeatableRandom
    private let queue: DatabaseQueue
    private(set) var ticks = 0
    /// How many rows each state has.
    private var rows = [0: 500]
    private var consumers: [Consumer?] = [nil, nil, nil]
    private var subscriptions: [Subscription?] = [nil, nil, nil]
    /// The newest state that each follower has had.
    private var seen = [-1, -1, -1]
    /// Which phone publishes.
    private(set) var phone = 0
    /// One that goes on while others publish as well; `nil` for a new one.
    private var kept: Publisher?
    /// No follower gets beyond this state; `nil` while the store is not halted.
    private var limit: Int?
    /// The followers that it is encrypted for; `nil` if it is not encrypted.
    private(set) var recipients: Set<Int>?

    /// - Parameter publication: Where to publish; `nil` for `storage`.
    init(
        seed: UInt64, in publication: (any PublicationStorage)? = nil, at place: Endpoint = .folder("somewhere"),
        isEncrypted: Bool = false
    ) throws {
        recipients = isEncrypted ? [0, 1, 2] : nil
        scratch = try ScratchFolder.inMemory()
        random = RepeatableRandom(seed: seed)
        storage = StorageInMemory(seed: seed)
        (self.publication, self.place) = (publication ?? storage, place)
        queue = try DatabaseQueue(path: scratch.path.appending("Recipes.sqlite").string)
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    PRAGMA journal_mode = WAL; CREATE TABLE tick(n INTEGER); INSERT INTO tick VALUES (0);
                    CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                    INSERT INTO recipe(title) SELECT 'Soup ' || i FROM n;
                    """)
        }
        _ = try device(1).trust(try identity.id)
    }

    var identity: DeviceIdentity { get throws { try identity(ofPhone: 0) } }

    func identity(ofPhone index: Int) throws -> DeviceIdentity { try phone(index).identity() }

    private func phone(_ index: Int) -> Device { Device(folder: scratch.path.appending("phone\(index)")) }

    func encryptionKey(ofPhone index: Int) throws -> EncryptionKey { try phone(index).encryptionKey() }

    func device(_ index: Int) -> Device { Device(folder: scratch.path.appending("watch\(index)")) }

    // MARK: The publisher

    func publisher(
        _ publishing: Publishing = Publishing(), of phone: Int? = nil, forRecipients: Bool = true,
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) throws -> Publisher {
        try publisher(
            to: publication, at: place, publishing, of: phone, forRecipients: forRecipients, report: report)
    }

    func publisher(
        to storage: any PublicationStorage, at place: Endpoint, _ publishing: Publishing = Publishing(),
        of phone: Int? = nil, store: String = "Recipes.sqlite", forRecipients: Bool = true,
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) throws -> Publisher {
        var options = Producer.Options()
        options.device = self.phone(phone ?? self.phone)
        options.memory = BaseMemory(at: scratch.path.appending("bases\(phone ?? self.phone)"))
        var publishing = publishing
        if let recipients, forRecipients {
            let devices = recipients.map(device) + (0...self.phone + 1).map { self.phone($0) }
            publishing.recipients = Set(try devices.map { try $0.encryptionKey() })
        }
        let producer = Producer(scratch.path.appending(store), options: options)
        return try Publisher(producer, to: storage, at: place, publishing, report: report)
    }

    func publish() async throws { _ = try await publisher().publish() }

    /// Publishes another store with so many bytes that deflate to as many.
    func publishNotes(size: Int) async throws -> PublishedHead.Store {
        let sql = "CREATE TABLE note(text); INSERT INTO note VALUES (randomblob(\(size)))"
        try TestStore.make(at: scratch.path.appending("Notes.sqlite"), sql: sql)
        _ = try await publisher(to: publication, at: place, store: "Notes.sqlite").publish()
        let name = try #require(StoreName("Notes"))
        return try #require(try newestHead().head[name])
    }

    /// A head like the one that lies there, with these stores, as whoever has the publisher's key may sign it.
    func head(with stores: [PublishedHead.Store]) throws -> [UInt8] {
        let head = try newestHead().head
        return try identity.sign(
            PublishedHead(
                publication: head.publication, number: head.number, software: "ship-store", issued: head.issued,
                expires: head.expires, next: nil, before: nil, sealing: nil, halted: [], stores: stores)
        ).encoded
    }

    /// Publishes, and forgets it, as a publisher does that is killed right after the head is written.
    func publishInVain() async throws {
        let (bases, before) = (scratch.path.appending("bases\(phone)").string, scratch.path.appending("before").string)
        try FileManager.default.copyItem(atPath: bases, toPath: before)
        try await publish()
        try FileManager.default.removeItem(atPath: bases)
        try FileManager.default.moveItem(atPath: before, toPath: bases)
    }

    /// The head that lies there.
    func newestHead() throws -> (head: PublishedHead, publisher: DeviceIdentifier) {
        guard let bytes = storage.head else { throw PublicationError.nothingThere(place) }
        let file = try HeadFile(
            decoding: try keys().map { try #require($0.open(SealedHead(decoding: bytes))) } ?? bytes)
        let publisher = (0...phone + 1).lazy.compactMap {
            try? file.signer(by: self.identity(ofPhone: $0).certificate)
        }.first
        return (try file.head(), try #require(publisher))
    }

    /// With what the head that lies there is encrypted; `nil` if it is not.
    func keys() throws -> PublicationKeys? {
        guard let bytes = storage.head, SealedHead.isOne(bytes) else { return nil }
        let file = try #require(storage.object(try SealedHead(decoding: bytes).keys))
        return try (0...phone + 1).lazy.compactMap { index in
            try PublicationKeys(decoding: file, with: self.phone(index).decryptionKey())
        }.first
    }

    /// Whom it is encrypted for from the next publication on.
    func encrypt(for followers: Set<Int>) {
        recipients = followers
        kept = nil
    }

    /// The last head of the phone before.
    func formerHead() throws -> PublishedHead {
        let object = try #require(try newestHead().head.before)
        return try HeadFile(decoding: try #require(storage.object(object.sha256))).head()
    }

    /// The next phone is to publish.
    func handOver() async throws {
        let next = try identity(ofPhone: phone + 1).id
        defer {
            // The answer may be lost.
            if (try? newestHead())?.head.next == ContentDigest(sha256: next.bytes) { phone += 1 }
        }
        try await publisher().handOver(to: next)
    }

    func halt(_ isHalted: Bool = true) async throws {
        defer {
            let halted = (try? newestHead())?.head.halted ?? []
            limit = halted.isEmpty ? nil : limit ?? ticks
        }
        _ = isHalted ? try await publisher().halt([]) : try await publisher().resume([])
    }

    func change(rows: Int = 1, alike areAlike: Bool = true) throws {
        ticks += 1
        self.rows[ticks] = (self.rows[ticks - 1] ?? 0) + rows
        let texts = (0..<(areAlike ? 1 : rows)).map { _ in random.bytes(30) }
        try queue.write { database in
            try database.execute(sql: "UPDATE tick SET n = ?", arguments: [ticks])
            for row in 0..<rows {
                try database.execute(
                    sql: "INSERT INTO recipe(title) VALUES (hex(?) || ?)",
                    arguments: [DatabaseValue(value: Data(texts[row % texts.count])), ticks * 10_000 + row * 7919])
            }
        }
    }

    // MARK: Followers

    /// What the stores of followers must have that are opened from now on.
    var requirements = StoreRequirements()
    /// What they may bring.
    var budget = ShipmentBudget()

    /// What a follower has of objects that did not come whole.
    func parts(_ index: Int) -> [FilePath] {
        let folder = InboxLayout(root: scratch.path.appending("inbox\(index)")).objects
        return ((try? Folder.names(in: folder)) ?? []).map { folder.appending($0) }
    }

    /// The receiver ends, and begins anew.
    func reopen(_ index: Int) throws {
        (consumers[index], subscriptions[index]) = (nil, nil)
        var options = Consumer.Options()
        options.trust = .trustedPeers(of: device(index))
        (options.requirements, options.budget) = (requirements, budget)
        let consumer = try Consumer(inbox: scratch.path.appending("inbox\(index)"), options: options)
        consumers[index] = consumer
        subscriptions[index] = Subscription(consumer, to: publication, at: place, patience: .zero) {
            [halts, waits] report in
            if case .halted = report.event { halts.add() }
            if case .waiting = report.event { waits.add() }
        }
    }

    /// How often a follower told that the store is halted.
    let halts = Count()
    /// How often a follower told that a newer state is not for it yet.
    let waits = Count()

    final class Count: Sendable {
        private let value = Atomic(0)
        var number: Int { value.load(ordering: .relaxed) }
        func add() { value.add(1, ordering: .relaxed) }
    }

    func look(_ index: Int) async throws {
        if subscriptions[index] == nil { try reopen(index) }
        if let failure = try await subscriptions[index]?.look().failures.first { throw failure }
    }

    func receive(_ file: FilePath, by index: Int) async throws {
        _ = try await consumers[index]?.receive(from: file)
    }

    /// The state that a follower holds.
    func tick(of index: Int) throws -> Int {
        let store = scratch.path.appending("inbox\(index)").appending("Recipes.sqlite")
        guard (try? PlatformCalls.statusFollowingLinks(of: store)) != nil else { return -1 }
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: "file:\(store.string)?immutable=1", configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { database in
            let tick = try Int.fetchOne(database, sql: "SELECT n FROM tick") ?? -1
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM recipe") == rows[tick])
            return tick
        }
    }

    private func check(_ index: Int) throws {
        let found = try tick(of: index)
        #expect(found >= seen[index] && found <= limit ?? ticks)
        seen[index] = found
    }

    // MARK: A round

    func step() async throws {
        let rates = [nil, nil, 2, 5, 20]
        storage.set(
            StorageInMemory.Faults(
                failing: rates[Int.random(in: 0..<5, using: &random)],
                lying: rates[Int.random(in: 0..<5, using: &random)]))
        switch Int.random(in: 0..<15, using: &random) {
        case 0..<3: try change(rows: [1, 1, 5, 300][Int.random(in: 0..<4, using: &random)])
        case 3..<5:
            // It may have handed over meanwhile.
            if kept == nil || Int.random(in: 0..<4, using: &random) == 0 { kept = try publisher() }
            _ = try? await kept?.publish()
        case 5:
            // Two at once, of which one may have the older copy.
            let (one, other) = (try publisher(), try publisher())
            async let first: Void = { _ = try? await one.publish() }()
            try change()
            _ = try? await other.publish()
            await first
        case 6: _ = try? await publisher().prune(after: .zero)
        case 7: try reopen(Int.random(in: 0..<3, using: &random))
        case 8: try? await halt(Int.random(in: 0..<4, using: &random) > 0)
        case 9:
            guard Int.random(in: 0..<3, using: &random) == 0 else { break }
            try? await handOver()
        case 11 where recipients != nil && Int.random(in: 0..<2, using: &random) == 0:
            encrypt(for: Set((0..<3).filter { _ in Bool.random(using: &random) }))
        case 10 where phone > 0:
            // Who has handed over publishes nothing more.
            let before = storage.head
            _ = try? await publisher(of: Int.random(in: 0..<phone, using: &random)).publish()
            #expect(storage.head == before)
        default:
            let index = Int.random(in: 0..<3, using: &random)
            try? await look(index)
            try check(index)
        }
    }

    /// Nothing goes wrong any more.
    func settle() async throws {
        storage.set(StorageInMemory.Faults())
        if recipients != nil { encrypt(for: [0, 1, 2]) }
        try await publish()
        try await halt(false)
        for index in 0..<3 {
            try await look(index)
            try check(index)
            #expect(seen[index] == ticks)
        }
        let (head, publisher) = try newestHead()
        #expect(try publisher == identity(ofPhone: phone).id)
        let catalog = try #require(head.stores.first?.catalog)
        #expect(storage.digests.contains(try keys()?.secret.name(of: catalog.sha256) ?? catalog.sha256))
    }
}
