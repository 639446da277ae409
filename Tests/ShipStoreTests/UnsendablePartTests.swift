import ShipCompression
import ShipProtocol
import ShipTransport
import StoreSnapshot
import TestSupport
import Testing

@testable import ShipStore

@Suite struct UnsendablePartTests {
    @Test func `a consumer that wants what cannot be sent, and then says no more, hears so at once`() async throws {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let session = ProducerSession(
            timeouts: Timeouts(), authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let order = ProducerSession.Order {
            OutgoingShipment(StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        }
        let consumer = try ChoosyConsumer()
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer, peer: .at(.command("a consumer")))
        let results = await session.run(link, [order, order]).results
        // The refusal of one shipment leaves the session as it is.
        #expect(results.count == 2)
        for result in results {
            #expect(throws: ShipmentError.protocolBroken(.noCommonEncoding(part: 0))) { try result.get() }
        }
        let waits = await consumer.waits
        #expect(waits.count == 2)
        #expect(waits.allSatisfy { $0 < .seconds(2) })
    }
}

/// Wants each store in columns alone, and has nothing more to say until that is cancelled.
private actor ChoosyConsumer: LinkReader, LinkWriter {
    private let words: SaidWords
    private var answered = ContinuousClock.now
    /// How long it took from each answer to CANCEL.
    private(set) var waits: [Duration] = []

    init() throws {
        words = try SaidWords(taking: [.columns])
    }

    nonisolated func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await words.next(within: limit)
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        switch bytes.first {
        case FrameType.manifest.rawValue:
            answered = .now
            say(.answer(Answer(again: [WantedPart(0, [.columns])])))
        case FrameType.cancel.rawValue:
            waits.append(.now - answered)
            say(.refusal(Reason(.featureNotSupported, message: "as you say", ending: .shipment)))
        default: break
        }
    }

    private func say(_ frame: Frame) {
        if let word = try? frame.serialized() { words.say(word) }
    }

    nonisolated func finish() async throws(LinkError) {}
}
