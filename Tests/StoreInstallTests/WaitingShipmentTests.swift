import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// A shipment that broke off: what of it stays, who may go on with it, and when it goes.
@Suite struct WaitingShipmentTests {
    private let inbox: InboxContent
    private let phone = Sender.device(ContentDigest(hashing: [1]), mayTakeOver: false)
    private let other = Sender.device(ContentDigest(hashing: [2]), mayTakeOver: true)
    private let data = [UInt8](repeating: 7, count: 80_000)
    private let name: StoreName

    init() throws {
        inbox = try InboxContent()
        name = try #require(StoreName("Recipes"))
    }

    private func shipment(_ counter: UInt64 = 1, _ store: String = "store") throws -> Shipment {
        let plain = try Shipment(store, files: [1: "first", 2: "second"])
        return Shipment(plain.manifest.counted(counter), plain.parts)
    }

    /// Stages a shipment of which the first external file comes as a whole, and of the second one's stream some.
    ///
    /// - Parameter cut: How many bytes of the last DATA, of 10.
    private func breakOff(_ shipment: Shipment, _ installer: Installer, from sender: Sender, cut: Int = 3) throws {
        let staged = try installer.stage(shipment.manifest, from: sender, present: [:], isResumable: true)
        try staged.append(shipment.parts[0], toPart: 0)
        try staged.append(shipment.parts[1], toPart: 1)
        staged.open(part: 2, .blocks, over: nil, after: false)
        staged.keep(data)
        staged.breakOff((Array(repeating: 9, count: cut), 10))
    }

    @Test func `what has come is found again, and the rest of the shipment goes on there`() async throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let found = installer.folder.waitingShipments(of: name)
        #expect(found.map(\.manifest.counter) == [1])
        let expected: Int64 = 512 + 5 + 4 + 80_000 + 4 + 3
        #expect(found.first?.bytes == expected)

        let next = try shipment(2)
        let staged = try installer.stage(next.manifest, from: phone, present: [:], isResumable: true)
        #expect(staged.wholeParts == [0, 1])
        #expect(staged.bytesToCome == 6)
        let stream = try #require(staged.earlierStream)
        #expect(stream.position == 80_000 + 4 + 4 + 3)
        #expect(stream.header == PartStream.Header(.blocks, of: next.manifest.parts[2]))
        #expect(installer.folder.waitingShipments(of: name).map(\.manifest.counter) == [2])
        staged.open(part: 2, .blocks, over: nil, after: true)
        staged.keep(Array(repeating: 9, count: 7))
        try staged.append(next.parts[2], toPart: 2)
        staged.endStream(complete: 2)
        let generation = try await installer.install(try staged.seal()) { _ in }
        #expect(generation.manifest == next.manifest)
        try generation.compareWithManifest()
        #expect(
            try Folder.names(in: generation.path) == [
                ".Recipes_SUPPORT", "Recipes.sqlite", "manifest.json", "origin.json",
            ])
        #expect(inbox.staging == [])
    }

    @Test func `files that have come one after the other are worth it together`() throws {
        let installer = try inbox.installer()
        let file = String(repeating: "x", count: 40_000)
        let plain = try Shipment("store", files: [1: file, 2: file + "y", 3: file + "z"])
        func stage(_ counter: UInt64) throws -> StagedGeneration {
            try installer.stage(plain.manifest.counted(counter), from: phone, present: [:], isResumable: true)
        }
        do {
            let staged = try stage(1)
            for index in 0...2 {
                staged.open(part: index, .blocks, over: nil, after: false)
                try staged.append(plain.parts[index], toPart: index)
                staged.endStream(complete: index)
            }
            staged.breakOff(nil)
        }
        #expect(try stage(2).wholeParts == [0, 1, 2])
    }

    @Test func `it survives a receiver that is killed, and the next one finds it`() throws {
        do {
            let installer = try inbox.installer()
            try breakOff(try shipment(), installer, from: phone)
            // Another one that was killed says nothing of itself.
            try FileManager.default.createDirectory(
                atPath: "\(inbox.store)/staging/\(UUID())", withIntermediateDirectories: false)
        }
        #expect(inbox.staging.count == 2)
        let installer = try inbox.installer()
        #expect(inbox.staging.count == 1)
        let staged = try installer.stage(try shipment(2).manifest, from: phone, present: [:], isResumable: true)
        #expect(staged.earlierStream != nil)
    }

    @Test func `another device neither goes on with it nor keeps its owner from it`() throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        for stranger in [other, .carrier, .operatorsWord] {
            let staged = try installer.stage(try shipment(2).manifest, from: stranger, present: [:], isResumable: true)
            #expect(staged.wholeParts == [])
            #expect(staged.earlierStream == nil)
        }
        let staged = try installer.stage(try shipment(2).manifest, from: phone, present: [:], isResumable: true)
        #expect(staged.earlierStream != nil)
    }

    @Test func `a shipment of something else leaves it until it has come as far, or is installed`() async throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let different = Shipment(
            try Shipment("another store", files: [3: "third"]).manifest.counted(2),
            try Shipment("another store", files: [3: "third"]).parts)
        let staged = try installer.stage(different.manifest, from: phone, present: [:], isResumable: true)
        #expect(staged.wholeParts == [])
        #expect(installer.folder.waitingShipments(of: name).map(\.manifest.counter) == [1])
        staged.open(part: 0, .blocks, over: nil, after: false)
        // Enough not to be held in memory.
        for _ in 0..<30 { staged.keep(data) }
        #expect(installer.folder.waitingShipments(of: name).map(\.manifest.counter) == [2])
        #expect(inbox.staging.count == 1)

        for (index, bytes) in different.parts.enumerated() { try staged.append(bytes, toPart: index) }
        _ = try await installer.install(try staged.seal()) { _ in }
        #expect(inbox.staging == [])
    }

    @Test func `less than is worth it, and what was refused, leave nothing`() throws {
        let installer = try inbox.installer()
        do {
            let staged = try installer.stage(try shipment().manifest, from: phone, present: [:], isResumable: true)
            staged.open(part: 0, .blocks, over: nil, after: false)
            staged.keep(Array(data.prefix(1000)))
            staged.breakOff(nil)
        }
        #expect(inbox.staging == [])
        do {
            let staged = try installer.stage(try shipment().manifest, from: phone, present: [:], isResumable: true)
            staged.open(part: 0, .blocks, over: nil, after: false)
            for _ in 0..<30 { staged.keep(data) }
            #expect(installer.folder.waitingShipments(of: name).count == 1)
        }
        #expect(inbox.staging == [])
        do {
            let staged = try installer.stage(try shipment().manifest, from: phone, present: [:])
            staged.open(part: 0, .blocks, over: nil, after: false)
            staged.keep(data)
            staged.breakOff(nil)
        }
        #expect(inbox.staging == [])
    }

    @Test func `what is damaged comes again`() throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let staging = "\(inbox.store)/staging/\(try #require(inbox.staging.first))"
        try Data("tsrif".utf8).write(
            to: URL(fileURLWithPath: "\(staging)/\(InboxContent.supportFolder)/\(try Shipment.fileName(1).uuid)"))
        try Data().write(to: URL(fileURLWithPath: "\(staging)/stream"))
        let staged = try installer.stage(try shipment(2).manifest, from: phone, present: [:], isResumable: true)
        #expect(staged.wholeParts == [0])
        #expect(staged.earlierStream == nil)
        #expect(try Folder.names(in: FilePath("\(staging)/\(InboxContent.supportFolder)")) == [])
    }

    @Test func `it waits for a day, whatever is done to the clock`() throws {
        let (now, up) = (Date(), Duration.seconds(1000))
        let record = WaitingRecord(producer: nil, at: now, sinceStart: up, start: "a")
        let day: TimeInterval = 86_400
        func isOver(after time: TimeInterval, _ passed: Duration, _ start: String?) -> Bool {
            record.isOver(at: now + time, sinceStart: up + passed, start: start)
        }
        #expect(!isOver(after: 0, .zero, "a"))
        // The clock jumps, the system runs on.
        #expect(!isOver(after: 30 * day, .seconds(60), "a"))
        #expect(!isOver(after: -30 * day, .seconds(60), "a"))
        #expect(isOver(after: 0, .seconds(day + 1), "a"))
        // After another start the clock is all there is.
        #expect(!isOver(after: 60, .seconds(-900), "b"))
        #expect(isOver(after: day + 1, .seconds(-900), "b"))
        #expect(isOver(after: -60, .seconds(-900), "b"))
        #expect(isOver(after: day + 1, .zero, nil))
    }

    @Test func `what is over is not found, and goes`() throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let staging = "\(inbox.store)/staging/\(try #require(inbox.staging.first))"
        let old = WaitingRecord(producer: phone.device, at: Date(timeIntervalSinceNow: -90_000), start: "before")
        try Data(old.jsonBytes).write(to: URL(fileURLWithPath: "\(staging)/waiting.json"))
        #expect(installer.folder.waitingShipments(of: name).isEmpty)
        let next = try installer.stage(try shipment(2).manifest, from: phone, present: [:], isResumable: true)
        #expect(next.wholeParts == [])
        installer.folder.removeExpiredShipments()
        #expect(!FileManager.default.fileExists(atPath: staging))
    }

    @Test func `a shipment that is coming in keeps a store from being forgotten, one that waits does not`() throws {
        let installer = try inbox.installer()
        let staged = try installer.stage(try shipment().manifest, from: phone, present: [:], isResumable: true)
        staged.open(part: 0, .blocks, over: nil, after: false)
        staged.keep(data)
        #expect(installer.folder.isComingIn(name))
        #expect(installer.folder.removeWaitingShipments(of: name) == 0)
        staged.breakOff(nil)
        #expect(!installer.folder.isComingIn(name))
        #expect(try installer.folder.forget(name, timeout: .zero) == [])
        #expect(inbox.staging == [])
    }

    @Test func `what waits goes where that makes room, and not where it does not`() throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let other = try #require(StoreName("Other"))
        #expect(!installer.folder.makeRoom(of: 1_000_000, for: other))
        #expect(installer.folder.waitingShipments(of: name).count == 1)
        #expect(installer.folder.makeRoom(of: 50_000, for: other))
        #expect(inbox.staging == [])
    }

    @Test func `what is a generation's own, or is coming in, makes no room`() async throws {
        let installer = try inbox.installer()
        let other = try #require(StoreName("Other"))
        let first = try Shipment("store", files: [1: String(repeating: "x", count: 500_000)])
        let generation = try await first.install(with: installer)
        let staged = try installer.stage(
            try shipment().manifest.counted(1), from: phone, present: [:], isResumable: true)
        staged.open(part: 0, .blocks, over: nil, after: false)
        for _ in 0..<30 { staged.keep(data) }
        #expect(!installer.folder.makeRoom(of: 1_000_000, for: other))
        staged.breakOff(nil)
        #expect(installer.folder.makeRoom(of: 1_000_000, for: other))
        do {
            let linked = try installer.stage(
                first.manifest.counted(2), from: phone, present: [1: generation.path(ofPart: 1)], isResumable: true)
            linked.open(part: 0, .blocks, over: nil, after: false)
            linked.keep(data)
            linked.breakOff(nil)
        }
        #expect(try #require(installer.folder.waitingShipments(of: name).first).bytes > 500_000)
        #expect(!installer.folder.makeRoom(of: 400_000, for: other))
        #expect(installer.folder.waitingShipments(of: name).count == 1)
    }

    @Test func `one that is sealed just then waits no more, and is installed`() async throws {
        let installer = try inbox.installer()
        let shipment = try shipment()
        let staged = try installer.stage(shipment.manifest, from: phone, present: [:], isResumable: true)
        staged.open(part: 0, .blocks, over: nil, after: false)
        for _ in 0..<30 { staged.keep(data) }
        for (index, bytes) in shipment.parts.enumerated() { try staged.append(bytes, toPart: index) }
        #expect(installer.folder.waitingShipments(of: name).count == 1)
        let removed = installer.folder.removeWaitingShipments(of: name) { _ in
            // As it is between its sealing and the rename.
            try? staged.removeRecord()
            staged.lock = nil
            return true
        }
        #expect(removed == 0)
        let generation = try await installer.install(try staged.seal()) { _ in }
        try generation.compareWithManifest()
    }

    @Test(arguments: ["stream", "Recipes.sqlite"])
    func `what is no file keeps no shipment from coming`(file: String) throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let path = "\(inbox.store)/staging/\(try #require(inbox.staging.first))/\(file)"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        let staged = try installer.stage(try shipment(2).manifest, from: phone, present: [:], isResumable: true)
        #expect(!staged.wholeParts.contains(0) || staged.earlierStream == nil)
    }

    @Test func `what says nothing of itself any more keeps nobody, and goes with the next shipment`() async throws {
        let installer = try inbox.installer()
        try breakOff(try shipment(), installer, from: phone)
        let staging = "\(inbox.store)/staging/\(try #require(inbox.staging.first))"
        try Data().write(to: URL(fileURLWithPath: "\(staging)/waiting.json"))
        #expect(!installer.folder.isComingIn(name))
        #expect(installer.folder.removeWaitingShipments(of: name) == 0)
        #expect(inbox.staging.count == 1)
        try await shipment().install(with: installer)
        #expect(inbox.staging == [])
    }

    @Test func `on a full disk a shipment that is coming in does not keep its stream`() async throws {
        let ledger = SpaceLedger()
        let installer = try Installer(
            inbox: Inbox(at: inbox.root), keeping: Retention(count: 3), leavingFree: 0, in: ledger)
        do {
            let staged = try installer.stage(try shipment().manifest, from: phone, present: [:], isResumable: true)
            // Somebody else has been promised all that is left.
            let free = try installer.folder.files.freeSpace
            let rest = try ledger.reserve(free - 1_000_000, in: installer.folder.files)
            staged.open(part: 0, .blocks, over: nil, after: false)
            for _ in 0..<20 { staged.keep(data) }
            staged.breakOff(nil)
            withExtendedLifetime(rest) {}
        }
        #expect(inbox.staging == [])
    }
}
