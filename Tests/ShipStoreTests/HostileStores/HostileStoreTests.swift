import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Stores made to hurt, each in a shipment whose digests are right, received into an inbox that has a generation already.
@Suite struct `A hostile store` {
    private let folder: ScratchFolder
    private let inbox: FilePath

    /// What SQLite may take for what is refused, and for what is let in, on a machine that has much else to do.
    private static func deadline(_ end: HostileStore.End) -> Duration { .seconds(end == .refused ? 2 : 20) }
    /// One instruction of SQLite's that is under way, and a machine that has much to do.
    private static let patience = Duration.seconds(30)

    init() throws {
        folder = try ScratchFolder()
        inbox = folder.path.appending("inbox")
    }

    private func options(_ end: HostileStore.End) -> Consumer.Options {
        var options = Consumer.Options()
        options.checking.limits.time = Self.deadline(end)
        return options
    }

    /// Receives a good store, over which the hostile one would come.
    private func receiveGoodStore(_ consumer: Consumer) async throws {
        let store = folder.path.appending("good.sqlite")
        try SampleStore.plain.make(at: store)
        let file = folder.path.appending("good.shipment")
        try HandmadeShipment.write(store, try HandmadeShipment.manifest(of: store), to: file)
        try await #expect(consumer.receive(from: .file(file)).map(\.outcome) == [.installed])
    }

    private func receive(_ file: FilePath, _ consumer: Consumer) async -> ShipmentError? {
        do throws(ShipmentError) {
            _ = try await consumer.receive(from: .file(file))
            return nil
        } catch {
            return error
        }
    }

    /// A row that is as long as its file, and many values of which each is short enough.
    @Test(arguments: [
        HostileStore.schema(
            "columns of 20 MB", .refused, after: "CREATE TABLE u(a); INSERT INTO u VALUES (zeroblob(20000000))",
            change: "UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (a || 1) NOT NULL)' WHERE name = 'u'"),
        HostileStore.schema(
            "a column of 100 columns of 3 MB", .refused,
            after: """
                CREATE TABLE u(a); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6)
                INSERT INTO u SELECT zeroblob(1000000) FROM n
                """,
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (max('
                || replace(hex(zeroblob(50)), '0', 'hex(zeroblob(1500000 + length(a))), ') || '1)) NOT NULL)'
                WHERE name = 'u'
                """),
    ])
    func `takes no more memory than it may in this process`(kind: HostileStore) async throws {
        var options = Consumer.Options()
        options.checking.limits = CheckLimits(time: .seconds(60), memory: 32 * 1024 * 1024)
        let (file, _) = try kind.shipment(in: folder.path)
        let error = await receive(file, try Consumer(inbox: inbox, options: options))
        #expect(error == .badStore(.tookTooMuchMemory(options.checking.limits.memory)))
    }

    @Test func `there are sixty of and more`() {
        #expect(HostileStore.all.count >= 60)
        #expect(Set(HostileStore.all.map(\.description)).count == HostileStore.all.count)
    }

    @Test(arguments: [
        HostileStore.headers, HostileStore.pages, HostileStore.schemas, HostileStore.costs, HostileStore.modules,
    ])
    func `is refused in time with nothing left of it, or does no harm`(kinds: [HostileStore]) async throws {
        try await receiveGoodStore(try Consumer(inbox: inbox, options: options(.harmless)))
        for end in [HostileStore.End.refused, .harmless] {
            try await receive(kinds.filter { $0.end == end }, end)
        }
    }

    private func receive(_ kinds: [HostileStore], _ end: HostileStore.End) async throws {
        // Each is another store than the good one, and may take its place if it is sound.
        var options = options(end)
        options.replacing = [try #require(StoreName(HandmadeShipment.name))]
        let probe = InboxProbe(inbox, store: HandmadeShipment.name)
        for kind in kinds {
            let before = probe.state
            let place = try folder.folder("\(UUID())")
            let (file, _) = try kind.shipment(in: place)
            let consumer = try Consumer(inbox: inbox, options: options)
            let start = ContinuousClock.now
            let error = await receive(file, consumer)
            let time = ContinuousClock.now - start
            if ProcessInfo.processInfo.environment["SHIP_STORE_TELL"] != nil {
                print("TELL \(kind.end) \(kind): \(time) \(error.map { "\($0)" } ?? "installed")")
            }
            #expect(time < Self.patience, "\(kind)")
            #expect(probe.state.staged.isEmpty, "\(kind)")
            switch kind.end {
            case .refused:
                #expect(error?.commandStatus == 65, "\(kind): \(String(describing: error))")
                #expect(probe.state == before, "\(kind)")
            case .harmless:
                #expect(error == nil, "\(kind): \(String(describing: error))")
                #expect(probe.state.current != before.current, "\(kind)")
            }
            try Folder.removeTree(at: place)
        }
    }

    /// What is hostile is in words that travel as they are, and the consumer makes the rest.
    @Test(arguments: [
        ("a costly column", HostileStore.End.refused), ("words of 700 levels", .harmless),
        ("words of 2 MiB", .harmless),
        ("an endless view", .harmless), ("endless triggers", .harmless), ("a costly CHECK", .harmless),
        ("foreign keys that lead nowhere", .harmless), ("full text whose index is rubbish", .harmless),
    ])
    func `that comes by its rows is refused in time, or does no harm`(
        name: String, end: HostileStore.End
    ) async throws {
        let store = folder.path.appending("\(HandmadeShipment.name).sqlite")
        let kind = try #require((HostileStore.byRows + HostileStore.all).first { $0.description == name })
        try kind.make(store)
        let file = folder.path.appending("rows.shipment")
        _ = try await Producer(store).send(to: .file(file))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file.string)))
        #expect(try StreamElement.encodings(in: bytes).first == .columns)
        var options = options(end)
        if end == .refused { options.checking.limits.time = .milliseconds(200) }
        let consumer = try Consumer(inbox: inbox, options: options)
        let start = ContinuousClock.now
        let error = await receive(file, consumer)
        #expect(ContinuousClock.now - start < Self.patience)
        let state = InboxProbe(inbox, store: HandmadeShipment.name).state
        #expect(state.staged.isEmpty)
        #expect((error == nil) == (end == .harmless), "\(String(describing: error))")
        #expect((state.current != nil) == (end == .harmless))
        if end == .refused { #expect(error?.commandStatus == 65) }
    }

    /// What a sender says of a Core Data store, and what is in it.
    @Test func `whose manifest is of another store is refused`() async throws {
        let store = folder.path.appending("coredata.sqlite")
        let sample = try CoreDataSample(at: store)
        try sample.addPhoto(key: 1, content: Data([1, 2, 3]))
        let truth = try await PreparedCopy(of: store, CopyOptions())
        let facts = try #require(truth.manifest.coreData)
        var others = facts.entityVersionHashes
        let entity = try #require(others.keys.min())
        others[entity] = Data(repeating: 9, count: 32).base64EncodedString()
        let claims: [(ForeignText?, Manifest.CoreDataFacts?, String?)] = [
            (truth.manifest.identity, facts, nil),
            ("another", facts, "identity"), (nil, facts, "identity"),
            (truth.manifest.identity, .init(entityVersionHashes: others), "coreData"),
            (truth.manifest.identity, .init(entityVersionHashes: [:]), "coreData"),
            (truth.manifest.identity, nil, "coreData"),
        ]
        let copy = truth.path(ofPart: 0)
        for (identity, coreData, member) in claims {
            let file = folder.path.appending("coredata.shipment")
            let manifest = try HandmadeShipment.manifest(of: copy, identity: identity, coreData: coreData)
            try HandmadeShipment.write(copy, manifest, to: file)
            // In an inbox of its own: what is there already would be another store.
            let consumer = try Consumer(inbox: folder.path.appending("\(UUID())"), options: options(.harmless))
            let error = await receive(file, consumer)
            #expect(error == member.map { .badStore(.contradictsManifest(ForeignText($0))) }, "\(member ?? "true")")
        }
    }

    @Test func `that says that Core Data made it is found out`() async throws {
        let consumer = try Consumer(inbox: inbox, options: options(.harmless))
        let store = folder.path.appending("plain.sqlite")
        try SampleStore.plain.make(at: store)
        let file = folder.path.appending("plain.shipment")
        let manifest = try HandmadeShipment.manifest(
            of: store,
            coreData: .init(entityVersionHashes: CoreDataSample.hashes))
        try HandmadeShipment.write(store, manifest, to: file)
        #expect(await receive(file, consumer) == .badStore(.contradictsManifest("coreData")))
    }
}
