import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// After a failed fsync the kernel may have dropped what was to be written: trying again would succeed, and say nothing.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct FailedSyncTests {
    @Test func `a sync that failed is not tried again, and what it was for is thrown away`() async throws {
        let sample = try await ShipmentSample(in: .inMemory())
        var isOver = false
        var number = 1
        while !isOver {
            let place = try sample.scratch.folder("\(number)")
            let (inbox, log) = (place.appending("inbox"), place.appending("calls"))
            try FileManager.default.copyItem(atPath: sample.template.string, toPath: inbox.string)
            let outcome = try await BuiltProgram.run(
                ["receive", "--into", inbox.string, "--from", sample.shipments[1].string],
                environment: FaultShim.environment(.eio, at: number, only: ["fsync", "fdatasync"], log: log))
            let syncs = FaultShim.calls(in: log).map(\.path)
            isOver = syncs.count < number
            if isOver {
                #expect(outcome.status == .exited(0))
            } else {
                #expect(outcome.status == .exited(74), "sync \(number) \(outcome.stderr)")
                let failed = syncs[number - 1]
                // What is synced after it is only what the way back has changed: folders, and no file.
                let later = syncs[number...]
                #expect(later.allSatisfy { !$0.contains("/staging/") && !$0.contains("/generations/") }, "\(later)")
                #expect(!later.contains(failed) || failed.hasSuffix("/Recipes"), "\(failed) again")
                #expect(ShipmentSample.current(of: inbox) == 1, "sync \(number)")
                sample.expect(inbox, serves: 1, "sync \(number)")
                try ShipmentSample.expectTidy(inbox, generations: 1...1, "sync \(number)")
            }
            number += 1
        }
        #expect(number > 10, "hardly anything is synced")
    }
}
