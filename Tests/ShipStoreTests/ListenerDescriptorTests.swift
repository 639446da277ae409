import ShipTransport
import Testing

@testable import ShipStoreNetwork

@Suite struct `The descriptors of a listener` {
    @Test func `are for some that are not known yet, however they divide by those of a session`() {
        for free in 0...3000 {
            var link = LinkOptions()
            let isEnough = link.fit(into: free)
            #expect(isEnough == (free >= 31), "\(free)")
            guard isEnough else { continue }
            // A session has 15, and the listener 16 of its own.
            let left = free - 16 - link.maximumConnections * 15
            #expect(left >= link.maximumHandshakes || left == 0 && link.maximumHandshakes == 1, "\(free)")
            #expect(link.maximumHandshakes >= min(8, max(1, free - 31)), "\(free)")
            if free >= 256 { #expect(link.maximumHandshakes >= free / 10 || link.maximumConnections == 64, "\(free)") }
        }
    }
}
