import ShipProtocol
import StoreFiles
import StoreInbox
import TestSupport
import Testing

@testable import StoreInstall

/// Two shipments never count on the same room. Most of what is free is promised, so that what others write meanwhile makes
/// no difference.
@Suite final class SpaceLedgerTests {
    private let scratch: ScratchFolder
    private let folder: OpenFolder
    private let ledger = SpaceLedger(reserve: 0)
    private let most: Int64

    init() throws {
        scratch = try ScratchFolder()
        folder = try OpenFolder(scratch.path)
        most = try folder.freeSpace / 10 * 6
    }

    private func isRefused(_ size: Int64) throws -> Bool {
        do throws(InboxError) {
            _ = try ledger.promise(size, in: folder)
            return false
        } catch {
            guard case .noSpace = error else { throw error }
            return true
        }
    }

    @Test func `what is promised to one is not promised to another`() throws {
        do {
            let promise = try ledger.promise(most, in: folder)
            #expect(try isRefused(most))
            withExtendedLifetime(promise) {}
        }
        #expect(try !isRefused(most))
    }

    @Test func `what has been written is not counted twice`() throws {
        let promise = try ledger.promise(most, in: folder)
        promise.use(most / 4)
        #expect(try isRefused(most))
        promise.use(most)
        #expect(try !isRefused(most))
        withExtendedLifetime(promise) {}
    }

    @Test func `what comes again takes its room again`() throws {
        do {
            let promise = try ledger.promise(most, in: folder)
            promise.use(most)
            promise.takeBack(most)
            #expect(try isRefused(most))
            promise.takeBack(.max)
            promise.use(most)
            #expect(try !isRefused(most))
        }
        #expect(try !isRefused(most))
    }

    @Test func `a store that is discarded gives its promise back`() throws {
        let inbox = try InboxContent()
        let installer = try inbox.installer()
        let shipment = try Shipment("store")
        // Its staging makes the folders.
        _ = try shipment.stage(with: installer)
        var staged = try StagedGeneration(
            shipment.manifest, from: .carrier, nil, in: installer.folder.layout.staging(shipment.manifest.name),
            of: installer.folder, present: [:], try ledger.promise(most, in: folder))
        staged.storeGrew(by: most)
        #expect(try !isRefused(most))
        try staged.discardStore()
        #expect(try isRefused(most))
    }
}
