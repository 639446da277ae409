import ShipLinks
import StoreServing
import Testing

@testable import ShipStore
@testable import StoreEncoding

@Suite struct `The time of decoders` {
    @Test func `is that of a session, and begins anew where it goes on after a shipment`() throws {
        let conversation = ConsumerConversation(
            over: .nowhere(as: .standardStreams), .never, .ofNobody, Timeouts(), CheckLimits(time: .seconds(1)))
        #expect(conversation.decoding.clock?.add(.seconds(2), for: 0) == false)
        #expect(conversation.decoding.clock?.add(.zero, for: 0) == false)
        try conversation.reopen()
        #expect(conversation.decoding.clock?.add(.zero, for: 0) == true)
    }
}
