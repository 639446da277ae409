import ShipLinks
import StoreServing
import Testing

@testable import ShipStore
@testable import StoreEncoding

@Suite struct `The time of decoders` {
    @Test func `is that of a session, and begins anew where it goes on after a shipment`() throws {
        let shared = ConsumerSession.SharedState(.ofNobody, CheckLimits(time: .seconds(1)), ClosedSide())
        #expect(shared.decoding.clock?.add(.seconds(2), for: 0) == false)
        #expect(shared.decoding.clock?.add(.zero, for: 0) == false)
        try shared.reopen()
        #expect(shared.decoding.clock?.add(.zero, for: 0) == true)
    }
}
