import ShipCompression
import ShipProtocol
import ShipTransport
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

@Suite struct ProducerSessionTests {
    @Test func `a consumer that is gone right after its receipt has installed the shipment`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let standing = SessionStanding(.localPrograms) {}
        let session = ProducerSession(timeouts: Timeouts(), standing: standing, report: { _ in })
        let order = ProducerSession.Order {
            OutgoingShipment(try await PreparedCopy(of: store, CopyOptions()), OutgoingShipment.Manner())
        }
        let consumer = ShortConsumer()
        let link = PeerLink(
            direction: .twoWay, reader: LinkReader(consumer), writer: LinkWriter(consumer),
            peer: .at(.command("a consumer"))
        )
        let outcome = try #require(try await session.run(link, [order]).first?.get())
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
                timeouts: timeouts, standing: SessionStanding(.localPrograms) {}, report: { _ in })
            var order = ProducerSession.Order { throw BrokenInvariant("a copy is taken") }
            order.unchanged = { manifest }
            let consumer = try ForgetfulConsumer(holding: manifest, isWorking: isWorking)
            let link = PeerLink(
                direction: .twoWay, reader: LinkReader(consumer), writer: LinkWriter(consumer),
                peer: .at(.command("a consumer")))
            let start = ContinuousClock.now
            let result = await session.run(link, [order]).first
            #expect(throws: ShipmentError.overdue(.answer(.milliseconds(300)))) { try result?.get() }
            #expect(.now - start < .seconds(10))
        }
    }
}

/// Says that it holds a store, wants it when that is offered, and then has nothing more to say.
private actor ForgetfulConsumer: LinkSource, LinkSink {
    private var words: [[UInt8]]
    private let isWorking: Bool

    init(holding manifest: Manifest, isWorking: Bool) throws {
        let held = Hello.HeldStore(name: manifest.name, manifest: ManifestContent(of: manifest).id)
        let hello = Hello(software: "a consumer", taking: CommonEncodings([]), holds: [held])
        words = [
            Preamble(role: .consumer, mode: .twoWay).encoded, try Frame.hello(hello).serialized(),
            try Frame.answer(.everything).serialized(),
        ]
        self.isWorking = isWorking
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        if !words.isEmpty { return words.removeFirst() }
        try? await Task.sleep(for: isWorking ? min(limit, .milliseconds(50)) : limit)
        guard isWorking, let working = try? Frame.working.serialized() else { throw .timedOut(.reading) }
        return working
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {}
    func finish() async throws(LinkError) {}
}

/// The least that a consumer says; once it has sent its receipt it is gone.
private actor ShortConsumer: LinkSource, LinkSink {
    private var parser = FrameParser()
    private var manifest: Manifest?
    private var words: AsyncStream<[UInt8]>.Iterator
    private let say: AsyncStream<[UInt8]>.Continuation

    init() {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        words = stream.makeAsyncIterator()
        say = continuation
        continuation.yield(Preamble(role: .consumer, mode: .twoWay).encoded)
        if let hello = try? Frame.hello(Hello(software: "a consumer", taking: CommonEncodings([]), holds: []))
            .serialized()
        {
            continuation.yield(hello)
        }
    }

    nonisolated func next(within limit: Duration) async throws(LinkError) -> [UInt8]? { await nextWord() }

    private func nextWord() async -> [UInt8]? {
        var words = words
        defer { self.words = words }
        return await words.next(isolation: self)
    }

    nonisolated func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do {
            try await take(bytes)
        } catch {
            throw .closedByPeer
        }
    }

    private func take(_ bytes: [UInt8]) throws {
        parser.append(bytes)
        while let element = try parser.next() {
            switch element {
            case .frame(.manifest(let manifest)):
                self.manifest = manifest
                say.yield(try Frame.answer(.everything).serialized())
            case .frame(.end):
                let manifest = try #require(manifest)
                let receipt = Receipt(
                    name: manifest.name, generation: 1, sha256: manifest.store.sha256, outcome: .installed)
                say.yield(try Frame.receipt(receipt).serialized())
            default: break
            }
        }
    }

    nonisolated func finish() async throws(LinkError) { throw .closedByPeer }
}
