import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// Files of what is gone, and what is written over them.
@Suite struct SpareFileTests {
    private static let pageSize = 512
    private static let pages = 3000

    private let content: InboxContent

    init() throws { content = try InboxContent() }

    /// A reader that has no lock, as `sqlite3` has none.
    private final class Reader {
        private let file: OpenFile
        let text: [UInt8]

        init(of path: FilePath, _ text: [UInt8]) throws {
            file = try OpenFile.reading(path)
            self.text = text
        }

        var sees: [UInt8] { get throws { try file.read(text.count, at: 0) } }
    }

    /// Whether the system tells that nobody else has a file.
    private static func tells(_ folder: FilePath) -> Bool {
        (try? OpenFile.creating(folder.appending("probe")).isUnshared) ?? false
    }

    private static func tooLarge() throws -> Manifest {
        let small = try Shipment("store").manifest
        let store = StoreFacts(
            size: 1 << 60, sha256: small.store.sha256, pageSize: 1 << 16, pageCount: 1 << 44, textEncoding: .utf8,
            applicationID: 0, userVersion: 0, schemaSHA256: small.store.sha256)
        return Manifest(
            name: small.name, createdAt: small.createdAt, producer: small.producer, store: store,
            identity: small.identity, coreData: small.coreData, externalFiles: [])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `it is written over, and no reader notices`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        var pages = (0..<Self.pages).map { _ in [UInt8](repeating: .random(in: 97...122, using: &random), count: 512) }
        var (readers, history): ([Reader], [Int: [UInt8]]) = ([], [:])
        var current: FilePath?
        var (asked, reused) = (0, 0)
        let installer = try content.installer(keeping: 2)
        for step in 1...14 {
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                pages[.random(in: pages.indices, using: &random)] = Array(
                    repeating: .random(in: 97...122, using: &random), count: Self.pageSize)
            }
            // Mostly much the same; at times longer or shorter.
            if Int.random(in: 0..<4, using: &random) == 0 { pages.shuffle(using: &random) }
            if Int.random(in: 0..<4, using: &random) == 0 { pages.removeLast(20) }
            if Int.random(in: 0..<4, using: &random) == 0 { pages += pages.prefix(40) }
            let text = pages.flatMap(\.self)
            do {
                let shipment = try Shipment(String(decoding: text, as: UTF8.self))
                let staged = try installer.stage(shipment.manifest, present: [:])
                let moveSpare = staged.moveSpareToStorePath
                let made = try PageFile(
                    creating: staged.storePathForMaking(), pageSize: Self.pageSize,
                    like: current,
                    takingSpare: {
                        asked += 1
                        let isThere = moveSpare()
                        if isThere { reused += 1 }
                        return isThere
                    })
                for (index, page) in pages.enumerated() { try made.write(page, number: UInt32(index + 1)) }
                try made.finish()
                try staged.storeGrew(to: Int64(text.count))
                // One in four does not become current.
                if Int.random(in: 0..<4, using: &random) > 0 {
                    let generation = try await installer.install(try staged.seal()) { _ in }
                    (current, history[generation.number]) = (generation.storePath, text)
                    if Bool.random(using: &random) { readers.append(try Reader(of: generation.storePath, text)) }
                }
            }
            if Bool.random(using: &random), !readers.isEmpty {
                readers.remove(at: .random(in: readers.indices, using: &random))
            }
            for reader in readers { #expect(try reader.sees == reader.text, "seed \(seed), step \(step)") }
            for name in content.generations {
                let number = try #require(GenerationName(name)?.number)
                let path = content.store.appending("generations").appending(name).appending("Recipes.sqlite")
                #expect(
                    try OpenFile.reading(path).read(1 << 22, at: 0) == history[number], "seed \(seed), step \(step)")
            }
            #expect(content.staging.count <= 1, "seed \(seed), step \(step): \(content.staging)")
        }
        // Where the file system clones, nobody asks.
        #expect(asked == 0 || reused > 1 || !Self.tells(content.root), "seed \(seed)")
        // It makes way for what has no room.
        #expect(throws: InboxError.self) { try installer.stage(Self.tooLarge(), present: [:]) }
        #expect(content.staging == [], "seed \(seed)")
    }

    @Test func `it goes with its owner, and before that only where a shipment asks for one`() async throws {
        let text = String(repeating: "a", count: 1 << 21)
        do {
            let installer = try content.installer(keeping: 1)
            for step in 1...3 { try await Shipment(text + "\(step)").install(with: installer) }
            #expect(content.staging == [])
            let staged = try Shipment(text).stage(with: installer)
            #expect(!staged.moveSpareToStorePath())
            _ = try await installer.install(try staged.seal()) { _ in }
            #expect(content.staging.count == (Self.tells(content.root) ? 1 : 0))
        }
        #expect(content.staging == [])
    }

    @Test func `it makes way for what a decoder writes beside the store`() async throws {
        let text = String(repeating: "a", count: 1 << 21)
        let installer = try content.installer(keeping: 1)
        try await Shipment(text + "1").install(with: installer)
        let staged = try Shipment(text + "2").stage(with: installer)
        #expect(!staged.moveSpareToStorePath())
        _ = try await installer.install(try staged.seal()) { _ in }
        let next = try Shipment(text + "3").stage(with: installer)
        let before = content.staging.count
        #expect(before == (Self.tells(content.root) ? 2 : 1))
        try next.workingRoom.take(1)
        #expect(content.staging.count == before)
        #expect(throws: InboxError.self) { try next.workingRoom.take(1 << 60) }
        #expect(content.staging.count == 1)
    }
}
