import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// Two shipments never count on the same room. Most of what is free is promised, so that what others write meanwhile makes
/// no difference.
@Suite final class SpaceLedgerTests {
    private let scratch: ScratchFolder
    private let folder: OpenFolder
    private let ledger = SpaceLedger()
    private let most: Int64

    init() throws {
        scratch = try ScratchFolder()
        folder = try OpenFolder(scratch.path)
        // A multiple of what it is divided by.
        most = try folder.freeSpace / 120 * 72
    }

    private func isRefused(_ size: Int64) throws -> Bool {
        do throws(DiskReservation.Refusal) {
            _ = try ledger.reserve(size, in: folder)
            return false
        } catch {
            guard case .tooLittle = error else { throw error }
            return true
        }
    }

    @Test func `what is promised to one is not promised to another`() throws {
        do {
            let promise = try ledger.reserve(most, in: folder)
            #expect(try isRefused(most))
            withExtendedLifetime(promise) {}
        }
        #expect(try !isRefused(most))
    }

    @Test func `what has been written is not counted twice`() throws {
        let promise = try ledger.reserve(most, in: folder)
        promise.use(most / 4)
        #expect(try isRefused(most))
        promise.use(most)
        #expect(try !isRefused(most))
        withExtendedLifetime(promise) {}
    }

    /// As a delta does it, whose store is counted once it is made.
    @Test func `what is written beyond a promise is not counted as still to come`() throws {
        let promise = try ledger.reserve(most / 4, in: folder)
        promise.use(most)
        try promise.extend(by: most / 4)
        #expect(try promise.left == 0 && !isRefused(most))
        #expect(promise.settle(upTo: most / 4) == most / 4)
        try promise.extend(by: most / 2)
        #expect(promise.left == most / 4)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func `in the end nothing is kept from others`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        do {
            let promises = try (0..<3).map { _ in try ledger.reserve(most / 12, in: folder) }
            for _ in 0..<60 {
                let promise = try #require(promises.randomElement(using: &random))
                let bytes = Int64.random(in: 0...most / 12, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: try? promise.extend(by: bytes)
                case 1: promise.use(bytes)
                case 2: promise.takeBack(bytes)
                case 3: promise.release(min(bytes, promise.left))
                case 4: _ = promise.settle(upTo: bytes)
                default: #expect(promise.left >= 0)
                }
            }
        }
        #expect(try !isRefused(most), "seed \(seed)")
    }

    @Test func `what comes again takes its room again`() throws {
        do {
            let promise = try ledger.reserve(most, in: folder)
            promise.use(most)
            promise.takeBack(most)
            #expect(try isRefused(most))
            promise.takeBack(.max)
            promise.use(most)
            #expect(try !isRefused(most))
        }
        #expect(try !isRefused(most))
    }

    @Test func `what is needed beyond a promise is asked for, and given back`() throws {
        let promise = try ledger.reserve(0, in: folder)
        try promise.extend(by: most)
        #expect(try isRefused(most))
        #expect(throws: DiskReservation.Refusal.self) { try promise.extend(by: most) }
        promise.use(most)
        #expect(try !isRefused(most))
        promise.shrink(by: most)
        #expect(try !isRefused(most))
        try promise.extend(by: most)
        #expect(try isRefused(most))
        withExtendedLifetime(promise) {}
    }

    @Test func `two ways to a disk are one disk`() throws {
        let promise = try ledger.reserve(most, around: scratch.path)
        #expect(try isRefused(most))
        withExtendedLifetime(promise) {}
    }

    @Test func `what is to stay free is counted too`() throws {
        let free = try folder.freeSpace
        #expect(throws: DiskReservation.Refusal.self) { _ = try ledger.reserve(most, leaving: free, in: folder) }
        #expect(try !isRefused(most))
    }

    @Test func `a file for sorting takes room while it is there`() throws {
        struct NoRoom: Error {}
        let promise = try ledger.reserve(most, in: folder)
        let room = GrowingReservation(promise) { _ in NoRoom() }
        do {
            let spill = try EntrySpill(at: scratch.path.appending("entries"), in: room)
            try spill.append([1, 2, 3])
            #expect(try spill.read(3, at: 0) == [1, 2, 3])
            #expect(throws: NoRoom.self) { try room.take(most) }
        }
        promise.use(most)
        #expect(try !isRefused(most))
    }

    @Test func `a store takes room ahead of what is written, also where it is discarded and comes again`() throws {
        let inbox = try InboxContent()
        let installer = try inbox.installer()
        let shipment = try Shipment("store")
        // Its staging makes the folders.
        _ = try shipment.stage(with: installer)
        let promise = try ledger.reserve(most, in: folder)
        let staged = try StagedGeneration(
            shipment.manifest, from: .carrier, nil, nil,
            in: installer.folder.layout.staging(shipment.manifest.name), of: installer.folder,
            SpareFiles(installer.folder), present: [:], promise, mayWait: false)
        let ahead: Int64 = 64 * 1024 * 1024
        #expect(promise.left == ahead)
        for step in 1...8 {
            try staged.storeGrew(to: Int64(step) * ahead * 3 / 4)
            #expect(promise.left >= ahead / 2 && promise.left <= ahead * 5 / 4)
        }
        try staged.discard(part: 0)
        #expect(promise.left == ahead)
    }
}
