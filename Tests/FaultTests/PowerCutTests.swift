import Foundation
import ShipStore
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

/// The power goes right after a receipt.
@Suite(.enabled("may not mount a file system of its own") { await LoopDisk.isAvailable() })
struct PowerCutTests {
    @Test func `a generation of which there is a receipt survives a power cut`() async throws {
        let sample = try await ShipmentSample(in: ScratchFolder())
        for start in [0, 1] {
            let disk = try await LoopDisk(in: sample.scratch.folder("disk \(start)"))
            let inbox = disk.path.appending("inbox")
            for shipment in sample.shipments[...start] {
                try await BuiltProgram.expectSuccess(["receive", "--into", inbox.string, "--from", shipment.string])
            }
            try await disk.cutPower()
            #expect(ShipmentSample.current(of: inbox) == start + 1)
            sample.expect(inbox, serves: start + 1, "after a power cut")
            try await BuiltProgram.expectSuccess(["verify", inbox.string])
            try await BuiltProgram.expectSuccess(
                ["receive", "--into", inbox.string, "--keep", "1", "--from", sample.shipments[1].string])
            try ShipmentSample.expectTidy(inbox, generations: 1...2, "after a power cut")
            try await disk.remove()
        }
    }

    /// Kills the receiver at a call, then cuts the power: what is on the medium may be older than what the dead process
    /// saw, and is one generation whole all the same.
    @Test(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
    func `a receiver and the power go at the same time`() async throws {
        let sample = try await ShipmentSample(in: ScratchFolder())
        for call in stride(from: 1, to: 60, by: Soak.isOn ? 1 : 11) {
            let disk = try await LoopDisk(in: sample.scratch.folder("disk \(call)"))
            let inbox = disk.path.appending("inbox")
            try await BuiltProgram.expectSuccess(
                ["receive", "--into", inbox.string, "--from", sample.shipments[0].string])
            _ = try await BuiltProgram.run(
                ["receive", "--into", inbox.string, "--from", sample.shipments[1].string],
                environment: FaultShim.environment(.kill, at: call, log: sample.scratch.path.appending("calls \(call)"))
            )
            try await disk.cutPower()
            let current = ShipmentSample.current(of: inbox)
            #expect([1, 2].contains(current), "cut at \(call)")
            sample.expect(inbox, serves: current, "cut at \(call)")
            try await BuiltProgram.expectSuccess(
                ["receive", "--into", inbox.string, "--keep", "1", "--from", sample.shipments[1].string],
                "cut at \(call)")
            sample.expect(inbox, serves: 2, "cut at \(call)")
            try await disk.remove()
        }
    }
}
