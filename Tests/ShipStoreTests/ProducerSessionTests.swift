import Foundation
import ShipCompression
import ShipProtocol
import ShipTransport
import StoreEncoding
import StoreFiles
import StoreSnapshot
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

@Suite struct ProducerSessionTests {
    @Test func `a consumer that is gone right after its receipt has installed the shipment`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let authorization = SessionAuthorization(.localPrograms) {}
        let session = ProducerSession(timeouts: Timeouts(), authorization: authorization, report: { _ in })
        let order = ProducerSession.Order {
            OutgoingShipment(StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        }
        let consumer = try ShortConsumer()
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer,
            peer: .at(.command("a consumer"))
        )
        let outcome = try #require(try await session.run(link, [order]).results.first?.get())
        #expect(outcome.receipt?.outcome == .installed)
        #expect(outcome.receipt?.sha256 == outcome.manifest.store.sha256)
    }

    @Test
    func `a consumer that lacks what it said it holds, and then says no more, is waited for no longer than others`()
        async throws
    {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let manifest = try await PreparedCopy(of: store, CopyOptions()).manifest
        for isWorking in [false, true] {
            var timeouts = Timeouts()
            timeouts.idle = .milliseconds(300)
            let session = ProducerSession(
                timeouts: timeouts, authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
            var order = ProducerSession.Order { throw BrokenInvariant("a copy is taken") }
            order.unchanged = { manifest }
            let consumer = try ForgetfulConsumer(holding: manifest, isWorking: isWorking)
            let link = PeerLink(
                direction: .twoWay, reader: consumer, writer: consumer,
                peer: .at(.command("a consumer")))
            let start = ContinuousClock.now
            let result = await session.run(link, [order]).results.first
            #expect(throws: ShipmentError.overdue(.answer(.milliseconds(300)))) { try result?.get() }
            #expect(.now - start < .seconds(10))
        }
    }

    @Test(arguments: [true, false])
    func `a consumer that ends the session while a copy is taken ends the copy`(says: Bool) async throws {
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let consumer = try LeavingConsumer(says: says)
        let isCancelled = Mutex(false)
        let order = ProducerSession.Order {
            consumer.leave()
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                isCancelled.withLock { $0 = true }
                throw error
            }
            throw BrokenInvariant("the copy goes on")
        }
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer, peer: .at(.command("a consumer")))
        let results = await session.run(link, [order, order]).results
        let failure = says ? ShipmentError.refused(consumer.reason) : .link(.closedByPeer)
        #expect(results.count == 2)
        for result in results { #expect(throws: failure) { try result.get() } }
        #expect(isCancelled.withLock { $0 })
    }

    @Test func `a copy that fails leaves nothing unheard of what the consumer has said`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let consumer = try ShortConsumer()
        let working = try Frame.working.serialized()
        let failing = ProducerSession.Order {
            // The first half of a frame has been heard when the copy fails.
            consumer.words.say(Array(working.prefix(4)))
            try await Task.sleep(for: .milliseconds(50))
            throw BrokenInvariant("there is nothing to copy")
        }
        let order = ProducerSession.Order {
            consumer.words.say(Array(working.dropFirst(4)))
            return OutgoingShipment(
                StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        }
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer, peer: .at(.command("a consumer")))
        let results = await session.run(link, [failing, order]).results
        #expect(throws: (any Error).self) { try results.first?.get() }
        #expect(try results.last?.get().receipt?.outcome == .installed)
    }

    @Test func `a producer says that it is at work while it remembers a shipment that was finished`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let earlier = OutgoingShipment(
            StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        try TestStore.make(at: store, sql: "CREATE TABLE more(a)")
        var timeouts = Timeouts()
        timeouts.idle = .milliseconds(600)
        let session = ProducerSession(
            timeouts: timeouts, authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        var order = ProducerSession.Order {
            OutgoingShipment(StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        }
        order.unfinished = { _, _ in earlier }
        order.finished = { _ in Thread.sleep(forTimeInterval: 1) }
        let consumer = try ShortConsumer(waitingFor: earlier.manifest)
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer,
            peer: .at(.command("a consumer")))
        let result = await withTaskExecutorPreference(BlockingExecutor.shared) { [order] in
            await session.run(link, [order]).results.first
        }
        #expect(try result?.get().receipt?.outcome == .installed)
        // One each 200 milliseconds; the machine may be slow.
        #expect(await consumer.signsOfLife >= 2)
    }
}

@Suite struct EarlyWorkTests {
    private typealias Order = ProducerSession.Order
    private struct Unable: Error {}

    private let scratch: ScratchFolder
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
    }

    /// An order that counts how often a copy is begun, of which so many fail.
    private func order(_ begun: Count, failing failures: Int = 0, isSmall: Bool = true) -> Order {
        Order(
            prepare: { [store] in
                if begun.add() <= failures { throw Unable() }
                let copy = try await PreparedCopy(of: store, CopyOptions())
                return OutgoingShipment(StoreVersion(copy), Producer.Options.inBlocks)
            }, isSmall: { isSmall })
    }

    @Test func `the copy of the next store is taken once the one before has gone, and is used once`() async throws {
        let begun = Count()
        let early = ProducerSession.EarlyWork(on: [Order { throw Unable() }, order(begun)])
        #expect(begun.value == 0)
        early[0].nextMayBegin()
        early[0].nextMayBegin()
        while begun.value == 0 { try await Task.sleep(for: .milliseconds(2)) }
        _ = try await early[1].prepare()
        #expect(begun.value == 1)
        _ = try await early[1].prepare()
        #expect(begun.value == 2)
        await early.end()
    }

    @Test func `what fails before its turn is tried again in its turn`() async throws {
        let begun = Count()
        let early = ProducerSession.EarlyWork(on: [Order { throw Unable() }, order(begun, failing: 1)])
        early[0].nextMayBegin()
        _ = try await early[1].prepare()
        #expect(begun.value == 2)
        let twice = Count()
        let failing = ProducerSession.EarlyWork(on: [Order { throw Unable() }, order(twice, failing: 2)])
        failing[0].nextMayBegin()
        await #expect(throws: Unable.self) { _ = try await failing[1].prepare() }
    }

    @Test func `a store that was locked before its turn is not waited for again`() async throws {
        let begun = Count()
        let locked = Order(
            prepare: { [store] in
                _ = begun.add()
                throw SnapshotError.busy(store, waited: .seconds(10))
            }, isSmall: { true })
        let early = ProducerSession.EarlyWork(on: [Order { throw Unable() }, locked])
        early[0].nextMayBegin()
        await #expect(throws: SnapshotError.busy(store, waited: .seconds(10))) { _ = try await early[1].prepare() }
        #expect(begun.value == 1)
    }

    @Test func `of a large store no copy is taken before its turn`() async throws {
        let begun = Count()
        let early = ProducerSession.EarlyWork(on: [Order { throw Unable() }, order(begun, isSmall: false)])
        early[0].nextMayBegin()
        await early.end()
        #expect(begun.value == 0)
    }

    @Test func `a copy that nobody needs any more is gone with the session`() async throws {
        let folder = scratch.path.appending("copies")
        try Folder.make(folder)
        var options = CopyOptions()
        options.temporaryFolder = folder
        let order = Order(
            prepare: { [store, options] in
                OutgoingShipment(StoreVersion(try await PreparedCopy(of: store, options)), Producer.Options.inBlocks)
            }, isSmall: { true })
        let early = ProducerSession.EarlyWork(on: [Order { throw Unable() }, order])
        early[0].nextMayBegin()
        while try Folder.names(in: folder).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        await early.end()
        #expect(try Folder.names(in: folder).isEmpty)
    }

    private final class Count: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }
}

/// Says that it holds a store, wants it when that is offered, and then has nothing more to say.
private actor ForgetfulConsumer: LinkReader, LinkWriter {
    private let words: SaidWords
    private let isWorking: Bool

    init(holding manifest: Manifest, isWorking: Bool) throws {
        let held = Hello.HeldStore(name: manifest.name, manifest: ManifestContent(of: manifest).id)
        words = try SaidWords(holding: [held])
        self.isWorking = isWorking
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        do {
            return try await words.next(within: isWorking ? min(limit, .milliseconds(50)) : limit)
        } catch {
            guard isWorking, case .timedOut = error, let working = try? Frame.working.serialized() else { throw error }
            return working
        }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard bytes.first == FrameType.manifest.rawValue, let answer = try? Frame.answer(.everything).serialized()
        else { return }
        words.say(answer)
    }

    func finish() async throws(LinkError) {}
}

/// Ends the session between two shipments.
private final class LeavingConsumer: LinkReader, LinkWriter {
    let reason = Reason(.notTrusted, message: "no longer", ending: .session)
    private let words: SaidWords
    private let isGone = Mutex(false)
    private let says: Bool

    /// - Parameter says: Whether it says so.
    init(says: Bool) throws {
        self.says = says
        words = try SaidWords()
    }

    func leave() {
        if says, let refusal = try? Frame.refusal(reason).serialized() { words.say(refusal) }
        isGone.withLock { $0 = true }
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        while true {
            do {
                return try await words.next(within: .milliseconds(10))
            } catch .timedOut {
                if isGone.withLock({ $0 }) { return nil }
            }
        }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {}
    func finish() async throws(LinkError) {}
}

/// The least that a consumer says; once it has sent its receipt it is gone.
private actor ShortConsumer: SayingConsumer {
    private var parser = FrameParser()
    private var manifest: Manifest?
    nonisolated let words: SaidWords
    /// How often the producer has said that it is at work, between a receipt and the next manifest.
    private(set) var signsOfLife = 0
    private var isBetween = false

    /// - Parameter unfinished: A shipment that broke off.
    init(waitingFor unfinished: Manifest? = nil) throws {
        let held = unfinished.map {
            Hello.HeldStore(name: $0.name, manifest: nil, unfinished: ManifestContent(of: $0).id.start)
        }
        words = try SaidWords(holding: [held].compactMap(\.self))
        if let unfinished { _ = parser.held.hold(ManifestContent(of: unfinished)) }
    }

    func take(_ bytes: [UInt8]) throws {
        parser.append(bytes)
        while let element = try parser.next() {
            switch element {
            case .frame(.manifest(let manifest)):
                self.manifest = manifest
                isBetween = false
                words.say(try Frame.answer(.everything).serialized())
            case .frame(.working) where isBetween: signsOfLife += 1
            case .frame(.end):
                let manifest = try #require(manifest)
                _ = parser.held.hold(ManifestContent(of: manifest))
                isBetween = true
                let receipt = Receipt(
                    name: manifest.name, generation: 1, sha256: manifest.store.sha256, outcome: .installed)
                words.say(try Frame.receipt(receipt).serialized())
            default: break
            }
        }
    }

    nonisolated func finish() async throws(LinkError) { throw .closedByPeer }
}
