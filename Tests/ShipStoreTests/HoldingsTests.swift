import DeviceTrust
import ShipProtocol
import StoreEncoding
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// What a shipment may refer to, where several generations have the same store and not the same external files.
@Suite struct HoldingsTests {
    private let scratch: ScratchFolder
    private let installer: Installer
    private let store = [UInt8](repeating: 1, count: 512)
    private let file = [UInt8](repeating: 2, count: 100_000)

    init() throws {
        scratch = try ScratchFolder()
        installer = try Installer(
            inbox: Inbox(at: scratch.path.appending("inbox")), keeping: Retention(count: 3, grace: .seconds(3600)))
    }

    private func manifest(_ store: [UInt8], files: [[UInt8]], created: String, name: String = "Recipes") throws
        -> Manifest
    {
        let external = try files.enumerated().map { index, bytes in
            ExternalFile(
                name: try #require(
                    ExternalFileName(folder: .externalData, uuid: "00000000-0000-0000-0000-00000000000\(index)")),
                size: Int64(bytes.count), sha256: ContentDigest(hashing: bytes))
        }
        let digest = ContentDigest(hashing: store)
        return Manifest(
            name: try #require(StoreName(name)), createdAt: try #require(Timestamp(created)),
            producer: Manifest.Software(software: "test", sqlite: "3"),
            store: StoreFacts(
                size: Int64(store.count), sha256: digest, pageSize: 512, pageCount: Int64(store.count / 512),
                textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest),
            identity: "0E9C7A52", coreData: Manifest.CoreDataFacts(entityVersionHashes: [:]), externalFiles: external)
    }

    @discardableResult
    private func install(files: [[UInt8]], created: String) async throws -> Generation {
        let manifest = try manifest(store, files: files, created: created)
        let staged = try installer.stage(manifest, present: [:])
        for (index, bytes) in ([store] + files).enumerated() { try staged.append(bytes, toPart: index) }
        return try await installer.install(try staged.seal()) { _ in }
    }

    @Test func `a holdings file tells what there is, however many stores have nothing`() async throws {
        let generation = try await install(files: [], created: "2026-11-20T00:00:00Z")
        let inbox = installer.inbox
        for number in 1...(Limits.holdings + 1) {
            try PlatformCalls.makeFolder(inbox.layout.store(try #require(StoreName("A\(number)"))))
        }
        let device = Device(folder: scratch.path.appending("device"))
        let file = try HoldingsFile.make(of: inbox, for: nil, by: device, holding: .seconds(60))
        #expect(file.holds.map(\.name.text) == ["Recipes"])
        let lease = try #require(installer.folder.leaseRecord(of: generation.manifest.name))
        #expect(lease.keeps(GenerationName(number: generation.number, digest: generation.manifest.store.sha256)))
    }

    @Test(arguments: [true, false])
    func `the generation with files is what an earlier stream refers to`(isFirst: Bool) async throws {
        try await install(files: isFirst ? [file] : [], created: "2026-11-20T00:00:00Z")
        try await install(files: isFirst ? [] : [file], created: "2026-11-21T00:00:00Z")
        let next = try manifest(
            [UInt8](repeating: 3, count: 512), files: [Array(file.reversed()) + [4]], created: "2026-11-22T00:00:00Z")
        let holdings = try Holdings(in: installer.folder, of: { _ in true }, from: nil)
        let header = PartStream.Header(.delta, of: next.parts[1], over: ContentDigest(hashing: store))
        let base = try #require(
            holdings.base(for: next, referringTo: nil, asIn: header, in: installer.folder) { _ in true })
        #expect(base.digest == ContentDigest(hashing: store))
        #expect(base.manifest.hasFiles)
    }

    @Test(arguments: [true, false])
    func `a delta of an external file goes on over a generation with files alone`(hasFiles: Bool) async throws {
        let held = try await install(files: hasFiles ? [file] : [], created: "2026-11-20T00:00:00Z")
        let next = try manifest(
            [UInt8](repeating: 3, count: 512), files: [Array(file.reversed()) + [4]], created: "2026-11-22T00:00:00Z")
        do {
            let staged = try installer.stage(next, present: [:], isResumable: true)
            staged.open(part: 1, .delta, over: held.manifest.store.sha256, after: false)
            // Each counts with its size, of 4 bytes.
            for byte in [5, 6] as [UInt8] { staged.keep([UInt8](repeating: byte, count: 50_000)) }
            staged.breakOff(nil)
        }
        let staged = try installer.stage(next, present: [:], isResumable: true)
        #expect(staged.earlierStream?.position == 100_008)
        let base = try #require(HeldGeneration(held, in: installer.folder))
        let slot = try await StoreQueues().take(next.name, within: .seconds(10))
        let shipment = IncomingShipment(staged, from: .carrier, slot, FileCodec(), DecodingLimits(), over: base)
        let begun = try shipment.begun(of: [1], in: .ofVersion)
        #expect(begun?.index == (hasFiles ? 1 : nil))
        #expect(begun?.start?.position == (hasFiles ? 100_008 : nil))
    }

    @Test
    func `a greeting looks whose a generation is before it reads the manifest, and reads no more than it can hold`()
        async throws
    {
        func install(_ name: String, of device: UInt8, padding: Int) async throws {
            let id = ContentDigest(hashing: [device])
            let made = try manifest(store, files: [], created: "2026-11-20T00:00:00Z", name: name).counted(1)
            let staged = try installer.stage(made, from: .device(id, mayTakeOver: false), present: [:])
            try staged.append(store, toPart: 0)
            let generation = try await installer.install(try staged.seal()) { _ in }
            let path = generation.path.appending("manifest.json")
            let json = try OpenFile.readingWithoutFollowing(path).read(1 << 20, at: 0)
            try PlatformCalls.removeFile(path)
            try OpenFile.creating(path).write(json + [UInt8](repeating: 0x20, count: padding))
        }
        // Read, these would leave nothing for the others.
        try await install("A", of: 2, padding: 1_000_000)
        try await install("B", of: 1, padding: 900_000)
        try await install("C", of: 1, padding: 900_000)
        try await install("D", of: 1, padding: 0)
        let device = try #require(DeviceIdentifier(bytes: ContentDigest(hashing: [1]).bytes))
        let holdings = try Holdings(in: installer.folder, of: { _ in true }, from: device)
        #expect(holdings.stores.map { "\($0.name)" } == ["B", "D"])
    }
}
