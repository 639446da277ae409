import DeviceTrust
import GRDB
import ShipProtocol
import ShipTransport
import StoreBases
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// The number of a shipment is drawn with the state that it is of.
@Suite struct ShipmentNumberingTests {
    private let scratch: ScratchFolder
    private let path: FilePath
    private let device: Device

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
        device = Device(folder: scratch.path.appending("device"))
    }

    private func makeStore() throws -> DatabaseQueue {
        let app = try TestStore.open(path, preparation: "PRAGMA busy_timeout = 10000")
        try app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (0)")
        }
        return app
    }

    /// - Returns: The number, and what the copy says.
    private func ship(_ options: CopyOptions) async throws -> (number: UInt64, value: Int) {
        let store = try SourceStore(at: path)
        let copy = try await device.number(copyOf: store) { turn in
            try await PreparedCopy(of: store, named: StoreName(suggestedBy: path), options, turn: turn)
        }
        let queue = try TestStore.open(copy.copy.path)
        defer { try? queue.close() }
        let value = try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        return (try #require(copy.manifest.counter), try #require(value))
    }

    @Test(arguments: [true, false])
    func `of many at once the higher number has the later state`(inCanonicalForm: Bool) async throws {
        let app = try makeStore()
        let isOver = Mutex(false)
        let (path, store) = (self.path, self)
        async let writing: Int = {
            var count = 0
            while !isOver.withLock({ $0 }) {
                try await app.writeWithoutTransaction { try $0.execute(sql: "UPDATE t SET a = a + 1") }
                count += 1
                try await Task.sleep(for: .microseconds(200))
            }
            return count
        }()
        var options = CopyOptions()
        options.inCanonicalForm = inCanonicalForm
        let shipments = try await withThrowingTaskGroup(of: [(number: UInt64, value: Int)].self) { group in
            for _ in 0..<8 {
                group.addTask { [options] in
                    var some: [(number: UInt64, value: Int)] = []
                    for _ in 0..<(Soak.isOn ? 100 : 12) { some.append(try await store.ship(options)) }
                    return some
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        isOver.withLock { $0 = true }
        #expect(try await writing > 0)
        let inOrder = shipments.sorted { $0.number < $1.number }
        #expect(Set(inOrder.map(\.number)).count == shipments.count)
        for (earlier, later) in zip(inOrder, inOrder.dropFirst()) {
            #expect(earlier.value <= later.value, "\(earlier), \(later)")
        }
        #expect(Set(inOrder.map(\.value)).count > 1)
        try app.close()
        withExtendedLifetime(path) {}
    }

    @Test func `one store waits for its turn, another does not, and nobody for ever`() throws {
        let folder = device.folder
        let other = "/other.sqlite" as FilePath
        func turn(_ store: FilePath, _ patience: Duration = .zero, _ body: () throws -> Void) throws {
            try folder.whileLocking(store, within: patience, mayGoOn: {}, body)
        }
        struct Unwanted: Error {}
        var steps: [String] = []
        try turn(path) {
            try turn(other) { steps.append("the other") }
            #expect(throws: IdentityError.self) { try turn(path, .milliseconds(30)) { steps.append("twice") } }
            #expect(throws: Unwanted.self) {
                try folder.whileLocking(path, within: .seconds(60), mayGoOn: { throw Unwanted() }) {
                    steps.append("unwanted")
                }
            }
        }
        try turn(path) { steps.append("after it") }
        #expect(steps == ["the other", "after it"])
    }

    @Test func `a counter that makes no sense is what is said`() async throws {
        try makeStore().close()
        _ = try device.nextCounter()
        let file = device.folder.path.appending("counter")
        try PlatformCalls.removeFile(file)
        try OpenFile.creating(file).write(Array("none\n".utf8))
        await #expect(throws: ShipmentError.identity(.damaged(file, flaw: "it holds no number of a shipment"))) {
            _ = try await ship(CopyOptions())
        }
    }

    // MARK: Overtaken

    /// What a session comes to whose consumer refuses so many shipments since it has had a later one.
    private func session(
        refusing count: Int, isOvertaken: Bool = true
    ) async throws -> (result: Result<Delivery, ShipmentError>, copies: Int) {
        try makeStore().close()
        let copies = Mutex(0)
        let consumer = try LaterConsumer(refusing: count)
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let order = ProducerSession.Order(
            isOvertaken: { _ in isOvertaken },
            prepare: { [path] in
                copies.withLock { $0 += 1 }
                return OutgoingShipment(
                    StoreVersion(try await PreparedCopy(of: path, CopyOptions())), Producer.Options.inBlocks)
            })
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer,
            peer: .at(.command("a consumer"))
        )
        let result = try #require(await session.run(link, [order]).results.first)
        return (result, copies.withLock { $0 })
    }

    @Test func `who has been overtaken takes another copy, once`() async throws {
        let (result, copies) = try await session(refusing: 1)
        #expect(try result.get().receipt?.outcome == .installed)
        #expect(copies == 2)
        let (again, copiesAgain) = try await session(refusing: 2)
        #expect(copiesAgain == 2)
        guard case .failure(.refused(let reason)) = again else { return #expect(Bool(false), "\(again)") }
        #expect(reason.knownCode == .replayed)
    }

    @Test func `the copy of the next store is taken before the last of a small shipment has gone`() async throws {
        try makeStore().close()
        let begun = Mutex(false)
        let first = ProducerSession.Order(prepare: { [path] in
            OutgoingShipment(StoreVersion(try await PreparedCopy(of: path, CopyOptions())), .inBlocks)
        })
        let next = ProducerSession.Order(
            prepare: { [path] in
                begun.withLock { $0 = true }
                return OutgoingShipment(StoreVersion(try await PreparedCopy(of: path, CopyOptions())), .inBlocks)
            }, isSmall: { true })
        let consumer = try LaterConsumer(refusing: 0)
        let hadBegun = Mutex<[Bool]>([])
        let writer = HeldWriter(consumer: consumer) {
            let end = ContinuousClock.now + .seconds(10)
            while !begun.withLock({ $0 }), .now < end { try? await Task.sleep(for: .milliseconds(1)) }
            hadBegun.withLock { $0.append(begun.withLock { $0 }) }
        }
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: writer, peer: .at(.command("a consumer")))
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let results = await session.run(link, [first, next]).results
        #expect(try results.map { try $0.get().receipt?.outcome } == [.installed, .installed])
        #expect(hadBegun.withLock { $0 } == [true, true])
    }

    @Test func `who has not, but has lost count, does not`() async throws {
        let (result, copies) = try await session(refusing: 1, isOvertaken: false)
        guard case .failure(.refused) = result else { return #expect(Bool(false), "\(result)") }
        #expect(copies == 1)
    }
}

/// A link to a consumer that takes no part before it may.
private struct HeldWriter: LinkWriter {
    let consumer: LaterConsumer
    let mayTakePart: @Sendable () async -> Void

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        if bytes.first == FrameType.part.rawValue { await mayTakePart() }
        try await consumer.write(bytes, within: limit)
    }

    func finish() async throws(LinkError) {}
}

/// A consumer that has had later shipments than the first ones that it is offered.
private actor LaterConsumer: SayingConsumer {
    private var parser = FrameParser()
    private var manifest: Manifest?
    private var refusals: Int
    nonisolated let words: SaidWords

    init(refusing refusals: Int) throws {
        self.refusals = refusals
        words = try SaidWords()
    }

    func take(_ bytes: [UInt8]) throws {
        parser.append(bytes)
        while let element = try parser.next() {
            switch element {
            case .frame(.manifest(let manifest)):
                self.manifest = manifest
                if refusals > 0 {
                    refusals -= 1
                    self.manifest = nil
                    words.say(
                        try Frame.refusal(Reason(.replayed, message: "old", ending: .shipment)).serialized())
                } else {
                    words.say(try Frame.answer(.everything).serialized())
                }
            case .frame(.end):
                guard let manifest else { break }
                let receipt = Receipt(
                    name: manifest.name, generation: 1, sha256: manifest.store.sha256, outcome: .installed)
                self.manifest = nil
                parser.held.install(manifest)
                words.say(try Frame.receipt(receipt).serialized())
            default: break
            }
        }
    }

    nonisolated func finish() async throws(LinkError) {}
}
