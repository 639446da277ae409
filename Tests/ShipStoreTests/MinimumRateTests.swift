import Foundation
import ShipProtocol
import ShipStoreNetwork
import ShipTransport
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A sender that only keeps its link open is given up, one that sends slowly is not.
@Suite struct MinimumRateTests {
    /// Receives what a child sends: the first half of a shipment at once, then 20 bytes a second, of which not one comes
    /// too late by itself.
    private func receive(minimumRate: Int) async throws -> [Receipt] {
        let scratch = try ScratchFolder()
        let store = scratch.path.appending("a.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE a(b); INSERT INTO a VALUES (randomblob(2000))")
        let shipment = scratch.path.appending("a.shipment")
        _ = try await Producer(store).send(to: .file(shipment))
        var options = Consumer.Options()
        options.timeouts.minimumRate = minimumRate
        options.timeouts.rateWindow = .milliseconds(500)
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"), options: options)
        let drip = """
            import sys, time
            bytes = open('\(shipment.string)', 'rb').read()
            out = sys.stdout.buffer
            out.write(bytes[:-40]); out.flush()
            for i in range(40):
                time.sleep(0.05)
                out.write(bytes[len(bytes) - 40 + i:][:1]); out.flush()
            """
        let script = scratch.path.appending("drip.py")
        try drip.write(toFile: script.string, atomically: true, encoding: .utf8)
        return try await consumer.receive(from: .command("python3 '\(script.string)'"))
    }

    @Test func `a sender that is too slow is given up`() async throws {
        await #expect(throws: ShipmentError.link(.tooSlow(bytesPerSecond: 1000))) {
            try await receive(minimumRate: 1000)
        }
    }

    @Test(arguments: [5, 0]) func `a sender that is fast enough has its time`(minimumRate: Int) async throws {
        #expect(try await receive(minimumRate: minimumRate).map(\.outcome) == [.installed])
    }
}
